import { element } from './elements.js'
import { stateFilter } from './entry-list.js'
import { entryPages } from './entry-pages.js'
import { stateTag, timeOf } from './list-page.js'
import { secretsPart } from './rotate-secret.js'
import { hashOf } from './route.js'
import { shown, valueText, visible } from './shown-text.js'

export const scopesPage = entryPages({
  segment: 'scopes',
  title: 'Scopes',
  noun: 'scope',
  plural: 'scopes',
  lead: 'What clients can request: an API, or claims of a user.',
  idMember: 'name',
  switchMember: 'enabled',
  offText: 'No client can get it until you enable it again. Tokens that have it keep working.',
  removedText:
    'No client can get it any more. Tokens that have it keep working until they expire. This cannot be undone.',
  columns: [
    { name: 'Scope', cell: ({ name }) => element('a', { href: hashOf(['scopes', String(name)]) }, shown(name, 100)) },
    {
      name: 'State',
      cell: ({ enabled, unreadable }) => (unreadable === true ? 'unreadable' : stateTag(enabled !== false)),
    },
    { name: 'Tags', minor: true, cell: ({ tags }) => visible(valueText(tags), 100) },
    { name: 'Changed', minor: true, cell: ({ changedAt }) => (changedAt === undefined ? '' : timeOf(changedAt)) },
  ],
  filters: [{ name: 'prefix', label: 'Name starts with' }, { name: 'tag', label: 'Tag' }, stateFilter],
  nameOf: ({ name }) => String(name),
  more: (open) => [secretsPart('scopes', open, 'An API introspects tokens with it.')],
})
