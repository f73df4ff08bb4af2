/** Folds the error responses of an operation; a click shows them, with their examples and headers. */
export function foldedErrorsPlugin({ React }) {
  const h = React.createElement;

  function folded(Responses) {
    return function FoldedResponses(props) {
      const [open, setOpen] = React.useState(false);
      return h(
        'div',
        { className: open ? undefined : 'errors-folded' },
        h(Responses, props),
        h(
          'button',
          { type: 'button', className: 'btn errors-toggle', 'aria-expanded': open, onClick: () => setOpen(!open) },
          open ? 'Hide error responses' : 'Show error responses',
        ),
      );
    };
  }

  return { wrapComponents: { responses: folded } };
}
