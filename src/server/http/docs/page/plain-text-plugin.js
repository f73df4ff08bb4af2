/**
 * Descriptions come from definition files: they stay text. Words between backticks are shown as code; nothing else is
 * markup, so no description can bring elements, links or styles into the page.
 */
export function plainTextPlugin({ React }) {
  function PlainText({ source, className = '' }) {
    if (typeof source !== 'string' || source === '') return null;
    const parts = source.split(/`([^`]+)`/u);
    const children = parts.map((part, at) => (at % 2 === 1 ? React.createElement('code', { key: at }, part) : part));
    return React.createElement('div', { className: `markdown plain-text ${className}` }, ...children);
  }

  return { wrapComponents: { Markdown: () => PlainText } };
}
