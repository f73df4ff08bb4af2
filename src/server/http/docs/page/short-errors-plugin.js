/** Shows the code and meaning of each error response in one line; a click shows examples and headers. */
export function shortErrorsPlugin({ React }) {
  const h = React.createElement;

  function shortened(Responses) {
    return function ShortResponses(props) {
      const [whole, setWhole] = React.useState(false);
      return h(
        'div',
        { className: whole ? 'errors-whole' : 'errors-short' },
        h(Responses, props),
        h(
          'button',
          { type: 'button', className: 'btn errors-toggle', 'aria-expanded': whole, onClick: () => setWhole(!whole) },
          whole ? 'Hide examples of errors' : 'Show examples of errors',
        ),
      );
    };
  }

  return { wrapComponents: { responses: shortened } };
}
