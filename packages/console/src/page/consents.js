import { element, rowButton } from './elements.js'
import { dataTable } from './list-page.js'
import { shown, valueText, visible } from './shown-text.js'

/** @import { OpenEntry } from './entry-page.js' */

/** @typedef {{ clientId: string, scopes: string[], claims: string[] }} Consent */

/** @param {OpenEntry} open @param {(text: string) => Promise<void>} reload */
function consentTable({ path, context: { api } }, reload) {
  /** @param {string} clientId */
  const revoke = (clientId) => async () => {
    const { problem } = await api.send('DELETE', `${path}/consents/${encodeURIComponent(clientId)}`)
    await reload(problem === '' ? 'The consent is revoked. The user will be asked again.' : visible(problem))
  }
  /** @param {readonly Consent[]} consents */
  return (consents) =>
    dataTable(
      'Consents',
      [
        { name: 'Client', cell: ({ clientId }) => shown(clientId, 100) },
        { name: 'Scopes', cell: ({ scopes, claims }) => visible(valueText([...scopes, ...claims]), 200) },
        {
          name: 'Action',
          cell: ({ clientId }) =>
            rowButton('Revoke', `Revoke the consent to ${visible(clientId, 100)}`, revoke(clientId)),
        },
      ],
      consents,
    )
}

/**
 * Returns the part of the page of a user with the consents.
 *
 * @param {OpenEntry} open
 */
export function consentsPart(open) {
  const { path, context } = open
  const list = element('div', {}, element('p', { class: 'quiet' }, 'Loading…'))
  const news = element('p', { class: 'hint', role: 'status', tabindex: '-1' })
  const draw = consentTable(open, load)

  /** @param {string} text */
  async function load(text) {
    const { body, problem } = await context.api.get(`${path}/consents`)
    const items = body?.items ?? []
    const sentence = problem === '' ? 'The user has consented to no client.' : visible(problem)
    list.replaceChildren(items.length > 0 ? draw(items) : element('p', { class: 'quiet' }, sentence))
    news.textContent = text
    // The button that had the focus is gone.
    if (text !== '') news.focus()
  }
  void load('')
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'consents-title' },
    element('h2', { id: 'consents-title' }, 'Consents'),
    list,
    news,
  )
}
