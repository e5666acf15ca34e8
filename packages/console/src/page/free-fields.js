import { element } from './elements.js'

/**
 * Returns fields with editable names, for grants with unknown parameters and for experiments.
 *
 * @param {boolean} open
 */
export function freeFields(open) {
  const rows = element('div', { class: 'rows' })
  let count = 0

  function add() {
    count += 1
    const name = element('input', {
      type: 'text',
      'aria-label': `Name of field ${count}`,
      placeholder: 'name',
      spellcheck: 'false',
    })
    const value = element('input', {
      type: 'text',
      'aria-label': `Value of field ${count}`,
      placeholder: 'value',
      spellcheck: 'false',
    })
    const row = element(
      'div',
      { class: 'row' },
      name,
      value,
      element(
        'button',
        {
          type: 'button',
          class: 'small',
          'aria-label': `Remove field ${count}`,
          onclick: () => {
            row.remove()
            more.focus()
          },
        },
        'Remove',
      ),
    )
    rows.append(row)
    name.focus()
  }

  const more = element('button', { type: 'button', class: 'small', onclick: add }, 'Add a field')
  const part = element('details', { open }, element('summary', {}, 'More fields'), rows, more)

  /** @returns {(readonly [string, string])[]} */
  const chosen = () =>
    [...rows.children].flatMap((row) => {
      const [name, value] = row.querySelectorAll('input')
      return name === undefined || value === undefined || name.value === ''
        ? []
        : [/** @type {const} */ ([name.value, value.value])]
    })
  return { part, chosen }
}
