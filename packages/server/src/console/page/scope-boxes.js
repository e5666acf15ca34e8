import { element, field, textInput } from './elements.js'
import { table } from './table.js'
import { scopeMeaning } from './words.js'

const usual = table({ client_credentials: ['api1'], refresh_token: [] })
const usualForUsers = ['openid', 'profile', 'offline_access', 'api1']

/**
 * The scopes of a client as checkboxes; where the client is not known, a field for their names.
 *
 * @param {readonly string[] | undefined} scopes
 * @param {string} grantType
 */
export function scopeBoxes(scopes, grantType) {
  if (scopes === undefined) {
    const input = textInput('scope', '')
    return { part: field('Scopes', input, 'Names with spaces between them.'), chosen: () => input.value.trim() }
  }
  const checked = usual[grantType] ?? usualForUsers
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
        ? 'What the token shall be good for. None checked: the same as before.'
        : 'What the token shall be good for.',
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
            element('span', { class: 'quiet' }, scopeMeaning(box.value)),
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
