import { confirmed } from './dialogs.js'
import { element, field, rowButton, textInput } from './elements.js'
import { dataTable } from './list-page.js'
import { shown, valueText, visible } from './shown-text.js'

/** @import { OpenEntry } from './entry-page.js' */

/** @typedef {{ clientId: string, scopes: string[] }} Authorization */

/** @param {readonly Authorization[]} authorizations */
const byClient = (authorizations) =>
  [...new Set(authorizations.map(({ clientId }) => clientId))].map((clientId) => {
    const ofClient = authorizations.filter((authorization) => authorization.clientId === clientId)
    return { clientId, count: ofClient.length, scopes: [...new Set(ofClient.flatMap(({ scopes }) => scopes))] }
  })

/**
 * Asks, and ends the access of one client of the user.
 *
 * @param {OpenEntry} open @param {HTMLElement} news
 */
const endAccess =
  ({ path, context }, news) =>
  async (/** @type {string} */ clientId) => {
    const name = visible(clientId, 100)
    const sentence = `All access that the user has given to ${name} ends, with the consent. Sessions and other clients stay.`
    if (!(await confirmed(`End the access of ${name}?`, [sentence], 'End the access'))) return
    const { problem, body } = await context.api.send('POST', `${path}/clients/${encodeURIComponent(clientId)}/revoke`, {
      body: {},
    })
    if (problem === '') {
      const { authorizations = 0, consents = 0 } = body?.ended ?? {}
      context.refresh(`The access of ${name} has ended (authorizations: ${authorizations}, consents: ${consents}).`)
      return
    }
    news.textContent = visible(problem, 500)
    news.focus()
  }

/**
 * Returns the part of the page of a user that ends the access of one client. A list has only lasting access, so any
 * client can be named.
 *
 * @param {OpenEntry} open
 */
export function clientAccessPart(open) {
  const list = element('div', {}, element('p', { class: 'quiet' }, 'Loading…'))
  const news = element('p', { class: 'problem', role: 'alert', tabindex: '-1' })
  const end = endAccess(open, news)
  const control = textInput('access-client', '')

  async function load() {
    const { body, problem } = await open.context.api.get(`${open.path}/authorizations`)
    const clients = byClient(body?.items ?? [])
    const sentence = problem === '' ? 'No client has lasting access.' : visible(problem)
    list.replaceChildren(
      clients.length === 0
        ? element('p', { class: 'quiet' }, sentence)
        : dataTable(
            'Access of clients',
            [
              { name: 'Client', cell: ({ clientId }) => shown(clientId, 100) },
              { name: 'Authorizations', cell: ({ count }) => String(count) },
              { name: 'Scopes', minor: true, cell: ({ scopes }) => visible(valueText(scopes), 200) },
              {
                name: 'Action',
                cell: ({ clientId }) =>
                  rowButton('End', `End the access of ${visible(clientId, 100)}`, () => end(clientId)),
              },
            ],
            clients,
          ),
    )
  }
  void load()
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault()
    const clientId = control.value.trim()
    if (clientId !== '') void end(clientId)
  }
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'access-title' },
    element('h2', { id: 'access-title' }, 'Access of clients'),
    list,
    news,
    element(
      'form',
      { class: 'filters', onsubmit },
      field('Client id', control),
      element('button', { type: 'submit', class: 'danger' }, 'End the access of this client'),
    ),
  )
}
