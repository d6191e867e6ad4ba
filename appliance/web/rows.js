// A text cut into rows for the eye: its lines, where very long ones (XML without line breaks) take several rows.

const LONG = 400;
const WANTED = 100;
const LONGEST = 200;

/**
 * Return at most `most` rows of `text`: where each begins and ends, and in which line (counted from 1).
 * `whole` says whether that is all of the text.
 */
export function cut(text, most) {
  const rows = { begins: [], ends: [], lines: [], whole: true };
  let line = 0;
  for (let begin = 0; begin <= text.length; ) {
    line += 1;
    const end = lineEnd(text, begin);
    cutLine(text, begin, end, line, rows, most);
    if (rows.begins.length >= most && end < text.length) {
      rows.whole = false;
      break;
    }
    begin = end + (text.startsWith("\r\n", end) ? 2 : 1);
  }
  return rows;
}

/** Return the number of the row that shows a place; -1 where no row does. */
export function rowOf(rows, line, column) {
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
  const place = rows.begins[low] + (column ?? 1) - 1;
  let row = low;
  while (rows.lines[row + 1] === line && rows.begins[row + 1] <= place) {
    row += 1;
  }
  return row;
}

function lineEnd(text, begin) {
  const feed = text.indexOf("\n", begin);
  const end = feed < 0 ? text.length : feed;
  return end > begin && text[end - 1] === "\r" ? end - 1 : end;
}

function cutLine(text, begin, end, line, rows, most) {
  let from = begin;
  do {
    const to = end - begin <= LONG ? end : rowEnd(text, from, end);
    rows.begins.push(from);
    rows.ends.push(to);
    rows.lines.push(line);
    from = to;
  } while (from < end && rows.begins.length < most);
}

/** A row of a long line ends before a tag, if one comes soon enough. */
function rowEnd(text, from, end) {
  const last = Math.min(from + LONGEST, end);
  if (last === end) {
    return end;
  }
  const piece = text.slice(from + WANTED, last);
  const tag = piece.search(/<(?!\/)/);
  return tag < 0 ? last : from + WANTED + tag;
}
