// Splits text into display rows: one per line, several for very long lines (XML without line breaks).

const LONG_LINE = 400;
const MIN_ROW = 100;
const MAX_ROW = 200;

/**
 * Return at most `limit` rows of `text`: start and end offsets, and line numbers (from 1).
 * `complete` is false if the text has more rows.
 */
export function splitRows(text, limit) {
  const rows = { starts: [], ends: [], lines: [], complete: true };
  let line = 0;
  for (let start = 0; start <= text.length; ) {
    line += 1;
    const end = lineEnd(text, start);
    splitLine(text, start, end, line, rows, limit);
    if (rows.starts.length >= limit && end < text.length) {
      rows.complete = false;
      break;
    }
    start = end + (text.startsWith("\r\n", end) ? 2 : 1);
  }
  return rows;
}

/** Return the index of the row at a line and column, or -1. */
export function findRow(rows, line, column) {
  let low = 0;
  let high = rows.lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows.lines[middle] < line) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (rows.lines[low] !== line) {
    return -1;
  }
  const offset = rows.starts[low] + (column ?? 1) - 1;
  let row = low;
  while (rows.lines[row + 1] === line && rows.starts[row + 1] <= offset) {
    row += 1;
  }
  return row;
}

function lineEnd(text, start) {
  const feed = text.indexOf("\n", start);
  const end = feed < 0 ? text.length : feed;
  return end > start && text[end - 1] === "\r" ? end - 1 : end;
}

function splitLine(text, start, end, line, rows, limit) {
  let from = start;
  do {
    const to = end - start <= LONG_LINE ? end : rowEnd(text, from, end);
    rows.starts.push(from);
    rows.ends.push(to);
    rows.lines.push(line);
    from = to;
  } while (from < end && rows.starts.length < limit);
}

/** Break a long line before a start tag if possible. */
function rowEnd(text, from, end) {
  const last = Math.min(from + MAX_ROW, end);
  if (last === end) {
    return end;
  }
  const piece = text.slice(from + MIN_ROW, last);
  const tag = piece.search(/<(?!\/)/);
  return tag < 0 ? last : from + MIN_ROW + tag;
}
