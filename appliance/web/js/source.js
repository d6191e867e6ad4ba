// Reads the XML of a file as text: decodes it as declared, or extracts it from a PDF.

const INVOICE_ROOT = /<(?:[\w.-]+:)?(?:CrossIndustryInvoice|Invoice|CreditNote)[\s>]/;
const MAX_INFLATED = 64 * 1024 * 1024;

/** Return {text, inPdf}; text is null if the file has no XML to show. */
export async function readSource(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (binaryString(bytes.subarray(0, 1024)).includes("%PDF-")) {
    return { text: await embeddedXml(bytes), inPdf: true };
  }
  const text = decode(bytes);
  return { text: text.trimStart().startsWith("<") ? text : null, inPdf: false };
}

function binaryString(bytes) {
  // One character per byte, to search in binary data.
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
  const declared = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(binaryString(bytes.subarray(0, 256)))?.[1];
  try {
    return new TextDecoder(declared ?? "utf-8").encoding;
  } catch {
    return "utf-8";
  }
}

/**
 * Return the XML of the single invoice embedded in a PDF, or null.
 * Searches for embedded file streams (ISO 32000-1, 7.11.4) without parsing the PDF structure. Returns null for encrypted
 * PDFs, several invoices, and unsupported compression filters.
 */
async function embeddedXml(bytes) {
  const pdf = binaryString(bytes);
  if (pdf.includes("/Encrypt")) {
    return null;
  }
  const documents = new Set();
  for (const match of pdf.matchAll(/\/EmbeddedFile\b/g)) {
    const text = await embeddedFile(pdf, bytes, match.index);
    if (text !== null && INVOICE_ROOT.test(text.slice(0, 65_536))) {
      documents.add(text);
    }
  }
  return documents.size === 1 ? [...documents][0] : null;
}

async function embeddedFile(pdf, bytes, index) {
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
      if (size > MAX_INFLATED) {
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
