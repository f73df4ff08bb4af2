/** A line with a box before its text, and perhaps a bullet or a number before the box. */
const BOX = /^\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:\[(?<mark>[ xX✓✔]?)\]|(?<on>[☑☒✅✓✔🗹])|[☐⬜□▢🔲])\s*(?=\S)/u;

/**
 * Returns the text without the options that are not checked, and without the boxes of the others; undefined unless some of several
 * boxes are checked. Only values that are chosen from a list are written like this: for texts, a checked box means done.
 */
export function checkedLines(text: string): string | undefined {
  const lines = text.split('\n').map((line) => {
    const box = BOX.exec(line);
    if (box === null) return { line, checked: undefined };
    const { mark = ' ', on } = box.groups ?? {};
    return { line: `- ${line.slice(box[0].length)}`, checked: on !== undefined || mark.trim() !== '' };
  });
  const boxes = lines.filter(({ checked }) => checked !== undefined);
  const isChoice = boxes.length > 1 && boxes.some(({ checked }) => checked) && !boxes.every(({ checked }) => checked);
  if (!isChoice) return undefined;
  return lines.flatMap(({ line, checked }) => (checked === false ? [] : [line])).join('\n');
}
