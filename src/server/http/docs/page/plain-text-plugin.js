/**
 * Shows the descriptions of definition files as plain text. Words between backticks appear as code; nothing else is markup, so
 * no description can add elements, links or styles to the page.
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
