/**
 * @typedef {Node | string | false | undefined} Child
 * @typedef {Record<string, string | boolean | ((event: Event) => unknown)>} Attributes
 */

/**
 * Creates an element. Text is inserted as text only, so that no response can become markup.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes] `onclick` and the like are listeners; `true` is an attribute without a value
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  const created = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') created.addEventListener(name.slice(2), value)
    else if (value !== false) created.setAttribute(name, value === true ? '' : value)
  }
  created.append(...children.filter((child) => child !== false && child !== undefined))
  return created
}

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const node = document.getElementById(id)
  if (node === null) throw new TypeError(`The page has no element ${id}`)
  return node
}

/**
 * Returns a labelled control. Screen readers read its hint, too.
 *
 * @param {string} label
 * @param {HTMLInputElement | HTMLSelectElement} control must have an `id`
 * @param {Child} [hint]
 */
export function field(label, control, hint) {
  if (hint) control.setAttribute('aria-describedby', `${control.id}-hint`)
  return element(
    'div',
    { class: 'field' },
    element('label', { for: control.id }, label),
    control,
    hint ? element('p', { class: 'hint', id: `${control.id}-hint` }, hint) : undefined,
  )
}

/**
 * @param {string} id
 * @param {string} value
 * @param {Attributes} [more]
 */
export function textInput(id, value, more = {}) {
  const input = element('input', {
    id,
    type: 'text',
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    ...more,
  })
  input.value = value
  return input
}

/**
 * @param {string} id
 * @param {readonly (readonly [value: string, text: string])[]} options
 * @param {string} [chosen]
 */
export function choice(id, options, chosen) {
  const select = element('select', { id }, ...options.map(([value, text]) => element('option', { value }, text)))
  if (chosen !== undefined) select.value = chosen
  return select
}

/**
 * Returns a button for one row of a table.
 *
 * @param {string} text
 * @param {string} what the accessible name: many rows have the same text
 * @param {() => unknown} onclick
 */
export const rowButton = (text, what, onclick) =>
  element('button', { type: 'button', class: 'small', 'aria-label': what, onclick }, text)

/**
 * Returns a button that copies a text and reports the result.
 *
 * @param {string} what the accessible name, such as `Copy the curl command`
 * @param {string} text
 */
export function copyButton(what, text) {
  const status = element('span', { class: 'quiet', role: 'status' })
  const button = element(
    'button',
    {
      type: 'button',
      class: 'small',
      'aria-label': what,
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(text)
          status.textContent = 'Copied'
        } catch {
          // The browser or the user did not allow it.
          status.textContent = 'Select the text to copy it'
        }
      },
    },
    'Copy',
  )
  return element('span', { class: 'copy' }, button, status)
}
