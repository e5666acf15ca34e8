import { confirmed } from './dialogs.js'
import { element } from './elements.js'
import { visible } from './shown-text.js'

/** @import { OpenEntry } from './entry-page.js' */

/**
 * Returns the part of the page of a user that removes second factors and passkeys: the device that has them was lost.
 *
 * @param {OpenEntry} open
 */
export function secondFactorsPart({ path, context }) {
  const news = element('p', { class: 'problem', role: 'alert', tabindex: '-1' })

  async function reset() {
    const sentence =
      'Second factors and passkeys of the user are removed, and all sessions and tokens end. Until the user sets up new ones, the password alone may be enough for a sign-in.'
    if (!(await confirmed('Reset the second factors?', [sentence], 'Reset the second factors'))) return
    const { problem, body } = await context.api.send('DELETE', `${path}/second-factors`)
    if (problem === '') {
      const { removed = {}, endedSessions = 0 } = body ?? {}
      const removals = /** @type {readonly [string, unknown][]} */ ([
        ['apps', removed.apps],
        ['recovery codes', removed.recoveryCodes],
        ['passkeys', removed.passkeys],
        ['sessions', endedSessions],
      ])
      const counts = removals.flatMap(([kind, count]) => (count === undefined ? [] : [`${kind}: ${count}`]))
      return context.refresh(
        `The second factors are removed. All sessions and tokens of the user have ended (${counts.join(', ')}).`,
      )
    }
    news.textContent = visible(problem, 500)
    news.focus()
  }
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'factors-title' },
    element('h2', { id: 'factors-title' }, 'Second factors and passkeys'),
    element('p', { class: 'quiet' }, 'For a user who has lost the device that has them.'),
    news,
    element(
      'div',
      { class: 'buttons' },
      element('button', { type: 'button', class: 'danger', onclick: reset }, 'Reset the second factors'),
    ),
  )
}
