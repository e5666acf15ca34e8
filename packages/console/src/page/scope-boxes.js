import { element, field, textInput } from './elements.js'
import { scopeDescription } from './labels.js'
import { table } from './table.js'

const defaultScopes = table({ client_credentials: ['api1'], refresh_token: [] })
const defaultUserScopes = ['openid', 'profile', 'offline_access', 'api1']

/**
 * Returns checkboxes for the scopes of a client, or a text field if the client is unknown.
 *
 * @param {readonly string[] | undefined} scopes
 * @param {string} grantType
 */
export function scopeBoxes(scopes, grantType) {
  if (scopes === undefined) {
    const input = textInput('scope', '')
    return { part: field('Scopes', input, 'Separated by spaces.'), chosen: () => input.value.trim() }
  }
  const checked = defaultScopes[grantType] ?? defaultUserScopes
  const boxes = scopes.map((scope) => {
    const box = element('input', { type: 'checkbox', id: `scope-${scope}`, value: scope })
    box.checked = checked.includes(scope)
    return box
  })
  const part = element(
    'fieldset',
    { class: 'scopes' },
    element('legend', {}, 'Scopes'),
    element(
      'p',
      { class: 'hint' },
      grantType === 'refresh_token'
        ? 'What the token allows. Select none to keep the same scopes.'
        : 'What the token allows.',
    ),
    element(
      'div',
      { class: 'boxes' },
      ...boxes.map((box) =>
        element(
          'label',
          { class: 'box' },
          box,
          element(
            'span',
            {},
            element('code', {}, box.value),
            ' ',
            element('span', { class: 'quiet' }, scopeDescription(box.value)),
          ),
        ),
      ),
    ),
  )
  const chosen = () =>
    boxes
      .filter((box) => box.checked)
      .map((box) => box.value)
      .join(' ')
  return { part, chosen }
}
