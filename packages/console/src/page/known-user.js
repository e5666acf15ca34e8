import { apiPath } from './api.js'
import { claimTable } from './claim-table.js'
import { clientAccessPart } from './client-access.js'
import { consentsPart } from './consents.js'
import { element, field, textInput } from './elements.js'
import { stateTag } from './list-page.js'
import { problemPage } from './problem-page.js'
import { hashOf } from './route.js'
import { secondFactorsPart } from './second-factors.js'
import { sessionsPart } from './sessions.js'
import { shown, visible } from './shown-text.js'

/** @import { OpenEntry } from './entry-page.js' */
/** @import { PageContent, PageContext } from './shell.js' */

/** Where a user is who is not in the storage, by `from` of the admin API. @type {Readonly<Record<string, string>>} */
const places = {
  configuration: 'in the configuration file',
  service: 'in the table or directory that the server reads',
  provider: 'known from another provider',
  removed: 'nowhere any more, but sessions or authorizations are left',
}

const back = () => element('a', { href: hashOf(['users']) }, 'All users')

/** @param {Record<string, any>} user */
const facts = ({ sub, username, active, from }) =>
  element(
    'dl',
    { class: 'facts' },
    element('div', {}, element('dt', {}, 'Subject'), element('dd', { class: 'mono' }, shown(sub, 100))),
    username !== undefined && element('div', {}, element('dt', {}, 'Name'), element('dd', {}, shown(username, 100))),
    element(
      'div',
      {},
      element('dt', {}, 'State'),
      element('dd', {}, stateTag(active === true, ['active', 'inactive'])),
    ),
    element('div', {}, element('dt', {}, 'Where'), element('dd', {}, places[from] ?? visible(from, 40))),
  )

/**
 * Returns the page of a user who is not in the storage. The user is changed elsewhere; what was issued to the user is ended
 * here.
 *
 * @param {string} text the `sub`, or the name for the sign-in
 * @param {PageContext} context
 * @returns {Promise<PageContent>}
 */
export async function knownUserPage(text, context) {
  const loaded = await context.api.get(apiPath(['known-users', text]))
  if (loaded.problem !== '') return problemPage(visible(text, 60), loaded, () => context.refresh(''), back())
  const user = loaded.body
  const { sub, username, claims } = user
  /** @type {OpenEntry} */
  const open = {
    id: sub,
    entry: user,
    context,
    path: apiPath(['users', sub]),
    // There is no entry.
    change: async () => undefined,
  }
  return {
    title: visible(username ?? sub, 80),
    content: [
      facts(user),
      Object.keys(claims).length > 0 && claimTable('Claims', claims),
      secondFactorsPart(open),
      sessionsPart(open),
      consentsPart(open),
      clientAccessPart(open),
      element('p', {}, back()),
    ],
  }
}

/**
 * Returns the page that finds a user of a table or a directory, which this server does not list.
 *
 * @param {PageContext} context
 * @returns {PageContent}
 */
export function findUserPage({ go }) {
  const control = textInput('find-user', '', { type: 'search' })
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault()
    const text = control.value.trim()
    if (text !== '') go(['users', text])
  }
  return {
    title: 'Users',
    content: [
      element(
        'p',
        { class: 'lead' },
        'Users come from a table or a directory, and are added and changed there. Find one to see and end what was issued.',
      ),
      element(
        'form',
        { class: 'filters', role: 'search', onsubmit },
        field('Name for the sign-in, or sub', control),
        element('button', { type: 'submit' }, 'Find the user'),
      ),
    ],
  }
}
