/** Error responses show their code and meaning in one line; their examples and headers are a click away. */
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
