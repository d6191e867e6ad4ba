// The XML of a file as text: decoded as it declares, or taken out of a PDF.

const INVOICE_ROOT = /<(?:[\w.-]+:)?(?:CrossIndustryInvoice|Invoice|CreditNote)[\s>]/;
const MOST_INFLATED = 64 * 1024 * 1024;

/** Return {text, inPdf}; text is null where there is none to show. */
export async function readSource(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (latin(bytes.subarray(0, 1024)).includes("%PDF-")) {
    return { text: await embeddedXml(bytes), inPdf: true };
  }
  const text = decode(bytes);
  return { text: text.trimStart().startsWith("<") ? text : null, inPdf: false };
}

function latin(bytes) {
  // Each byte one character, whatever it means: for looking into what is not text throughout.
  return new TextDecoder("x-user-defined").decode(bytes);
}

function decode(bytes) {
  return new TextDecoder(encoding(bytes)).decode(bytes);
}

function encoding(bytes) {
  const [first, second] = bytes;
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) {
    return "utf-16be";
  }
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) {
    return "utf-16le";
  }
  const declared = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(latin(bytes.subarray(0, 256)))?.[1];
  try {
    return new TextDecoder(declared ?? "utf-8").encoding;
  } catch {
    return "utf-8";
  }
}

/**
 * Return the XML of the one invoice attached to a PDF, or null.
 * This looks for attached streams (ISO 32000-1, 7.11.4) without reading the PDF's structure: good enough to show what
 * was judged, and it says nothing where it is unsure: an encrypted PDF, two invoices, another compression.
 */
async function embeddedXml(bytes) {
  const pdf = latin(bytes);
  if (pdf.includes("/Encrypt")) {
    return null;
  }
  const found = new Set();
  for (const match of pdf.matchAll(/\/EmbeddedFile\b/g)) {
    const text = await attached(pdf, bytes, match.index);
    if (text !== null && INVOICE_ROOT.test(text.slice(0, 65_536))) {
      found.add(text);
    }
  }
  return found.size === 1 ? [...found][0] : null;
}

async function attached(pdf, bytes, index) {
  const begin = pdf.indexOf("stream", index);
  const object = pdf.lastIndexOf(" obj", index);
  const dictionary = pdf.slice(object, begin);
  if (begin < 0 || object < 0 || begin - object > 4096 || dictionary.includes("endobj")) {
    return null;
  }
  const start = begin + (pdf.startsWith("\r\n", begin + 6) ? 8 : 7);
  const length = /\/Length\s+(\d+)(?!\s+\d+\s+R)/.exec(dictionary)?.[1];
  const end = length === undefined ? lineEndBefore(pdf, pdf.indexOf("endstream", start)) : start + Number(length);
  const content = bytes.subarray(start, end);
  if (!dictionary.includes("/Filter")) {
    return decode(content);
  }
  if (!/\/Filter\s*\[?\s*\/FlateDecode\s*\]?/.test(dictionary)) {
    return null;
  }
  const inflated = await inflate(content);
  return inflated && decode(inflated);
}

function lineEndBefore(pdf, end) {
  const last = pdf[end - 1] === "\n" ? end - 1 : end;
  return pdf[last - 1] === "\r" ? last - 1 : last;
}

async function inflate(content) {
  const parts = [];
  let size = 0;
  try {
    const stream = new Blob([content]).stream().pipeThrough(new DecompressionStream("deflate"));
    const reader = stream.getReader();
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      size += step.value.length;
      if (size > MOST_INFLATED) {
        await reader.cancel();
        return null;
      }
      parts.push(step.value);
    }
  } catch {
    return null;
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
