import { confirmed } from './dialogs.js'
import { element, rowButton } from './elements.js'
import { dataTable, timeOf } from './list-page.js'
import { valueText, visible } from './shown-text.js'

/** @import { OpenEntry } from './entry-page.js' */

/** @typedef {{ sid: string, startedAt: number, expiresAt: number, amr?: string[] }} Session */

/** @param {number} seconds since the epoch */
const timeAt = (seconds) => timeOf(new Date(seconds * 1000).toISOString())

/** @param {OpenEntry} open @param {(text: string) => Promise<void>} reload */
function sessionTable({ path, context: { api } }, reload) {
  /** @param {string} sid */
  const end = (sid) => async () => {
    const { problem } = await api.send('DELETE', `${path}/sessions/${encodeURIComponent(sid)}`)
    await reload(problem === '' ? 'The session has ended.' : visible(problem))
  }
  /** @param {readonly Session[]} sessions */
  return (sessions) =>
    dataTable(
      'Sessions',
      [
        { name: 'Began', cell: ({ startedAt }) => timeAt(startedAt) },
        { name: 'Ends', cell: ({ expiresAt }) => timeAt(expiresAt) },
        { name: 'Signed in with', minor: true, cell: ({ amr }) => visible(valueText(amr), 60) },
        {
          name: 'Action',
          cell: ({ sid, startedAt }) =>
            rowButton('End', `End the session of ${timeAt(startedAt).textContent}`, end(sid)),
        },
      ],
      sessions,
    )
}

/**
 * Returns the part of the page of a user with the sessions in all browsers.
 *
 * @param {OpenEntry} open
 */
export function sessionsPart(open) {
  const { path, context } = open
  const { api } = context
  const list = element('div', {}, element('p', { class: 'quiet' }, 'Loading…'))
  const news = element('p', { class: 'hint', role: 'status', tabindex: '-1' })
  const draw = sessionTable(open, load)

  /** @param {string} text */
  async function load(text) {
    const { body, problem } = await api.get(`${path}/sessions`)
    const items = body?.items ?? []
    const empty = element('p', { class: 'quiet' }, problem === '' ? 'The user is not signed in.' : visible(problem))
    list.replaceChildren(items.length > 0 ? draw(items) : empty)
    news.textContent = text
    // The button that had the focus is gone.
    if (text !== '') news.focus()
  }

  async function endAll() {
    const sentence = 'The user is signed out in all browsers, and everything that was issued so far ends immediately.'
    if (!(await confirmed('End all sessions and tokens?', [sentence], 'End all'))) return
    const { problem } = await api.send('POST', `${path}/revoke`, { body: {} })
    await load(problem === '' ? 'All sessions and tokens have ended.' : visible(problem))
  }
  void load('')
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'sessions-title' },
    element('h2', { id: 'sessions-title' }, 'Sessions'),
    list,
    news,
    element(
      'div',
      { class: 'buttons' },
      element('button', { type: 'button', class: 'danger', onclick: endAll }, 'End all sessions and tokens'),
    ),
  )
}
