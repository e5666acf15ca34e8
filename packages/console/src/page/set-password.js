import { element, field, textInput } from './elements.js'

/** @import { OpenEntry } from './entry-page.js' */

/**
 * Returns the part of the page of a user that sets a new password.
 *
 * @param {OpenEntry} open
 */
export function passwordPart({ entry, path, change }) {
  const control = textInput('new-password', '', { type: 'password', autocomplete: 'new-password' })
  async function save(/** @type {Event} */ event) {
    event.preventDefault()
    const password = control.value
    if (password === '') return control.focus()
    control.value = ''
    await change(
      'PUT',
      `${path}/password`,
      { password },
      'The password is set. All sessions and tokens of the user have ended.',
    )
  }
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'password-title' },
    element('h2', { id: 'password-title' }, 'Password'),
    element(
      'p',
      { class: 'quiet' },
      entry.password === true ? 'The user has a password.' : 'The user has no password, and cannot sign in with one.',
    ),
    element(
      'form',
      { autocomplete: 'off', onsubmit: save },
      field('New password', control, 'At least 8 characters. All sessions and tokens of the user end.'),
      element('div', { class: 'buttons' }, element('button', { type: 'submit' }, 'Set the password')),
    ),
  )
}
