import { apiPath } from './api.js'
import { clientAccessPart } from './client-access.js'
import { consentsPart } from './consents.js'
import { element } from './elements.js'
import { stateFilter } from './entry-list.js'
import { entryPages } from './entry-pages.js'
import { findUserPage, knownUserPage } from './known-user.js'
import { stateTag, timeOf } from './list-page.js'
import { hashOf } from './route.js'
import { secondFactorsPart } from './second-factors.js'
import { sessionsPart } from './sessions.js'
import { passwordPart } from './set-password.js'
import { shown, valueText, visible } from './shown-text.js'

/** @import { PageMaker } from './shell.js' */

const storedUsers = entryPages({
  segment: 'users',
  title: 'Users',
  noun: 'user',
  plural: 'users',
  lead: 'The people who sign in at this server.',
  idMember: 'sub',
  switchMember: 'active',
  offText:
    'The user can no longer sign in, and all sessions and tokens end immediately. You can enable the user again.',
  removedText: 'The user can no longer sign in, and all sessions and tokens end immediately. This cannot be undone.',
  columns: [
    {
      name: 'User',
      cell: ({ sub, username, id }) => [
        element('a', { href: hashOf(['users', String(sub ?? id)]) }, shown(username ?? sub ?? id, 100)),
        element('span', { class: 'second mono' }, shown(sub ?? '', 80)),
      ],
    },
    {
      name: 'State',
      cell: ({ active, unreadable }) => (unreadable === true ? 'unreadable' : stateTag(active !== false)),
    },
    { name: 'Tags', minor: true, cell: ({ tags }) => visible(valueText(tags), 100) },
    { name: 'Changed', minor: true, cell: ({ changedAt }) => (changedAt === undefined ? '' : timeOf(changedAt)) },
  ],
  filters: [{ name: 'name', label: 'Name starts with' }, { name: 'tag', label: 'Tag' }, stateFilter],
  // A search by name has no other filter.
  listPath: ({ name = '', after, limit, ...filter }) =>
    name === '' ? apiPath(['users'], { ...filter, after, limit }) : apiPath(['user-names'], { name, after, limit }),
  newMembers: ['password'],
  nameOf: ({ username, sub }) => String(username ?? sub),
  more: (open) => [
    passwordPart(open),
    secondFactorsPart(open),
    sessionsPart(open),
    consentsPart(open),
    clientAccessPart(open),
  ],
  missing: knownUserPage,
})

/** The pages of the users: those in the storage, or those of a user service, which has no list. @type {PageMaker} */
export function usersPage(context) {
  if (context.usersIn !== 'service') return storedUsers(context)
  const [id] = context.segments
  return id === undefined ? findUserPage(context) : knownUserPage(id, context)
}
