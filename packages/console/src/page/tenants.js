import { element } from './elements.js'
import { stateFilter } from './entry-list.js'
import { entryPages } from './entry-pages.js'
import { stateTag, timeOf } from './list-page.js'
import { hashOf } from './route.js'
import { shown, valueText, visible } from './shown-text.js'

/** @param {unknown} plugins */
const namesOf = (plugins) => (Array.isArray(plugins) ? plugins.map((plugin) => plugin?.name) : [])

export const tenantsPage = entryPages({
  segment: 'tenants',
  title: 'Tenants',
  noun: 'tenant',
  plural: 'tenants',
  lead: 'The other issuers of this server, each with its own clients, scopes, users and keys.',
  idMember: 'name',
  switchMember: 'enabled',
  removal: ['End', 'ended'],
  offText: 'All its requests are refused within seconds. You can enable it again.',
  removedText:
    'All its requests are refused within seconds, and its clients, scopes, users and keys are removed. ' +
    'A new tenant with this name gets nothing of the old one. This cannot be undone.',
  columns: [
    { name: 'Tenant', cell: ({ name }) => element('a', { href: hashOf(['tenants', String(name)]) }, shown(name, 100)) },
    {
      name: 'State',
      cell: ({ enabled, unreadable }) => (unreadable === true ? 'unreadable' : stateTag(enabled !== false)),
    },
    { name: 'Own plugins', minor: true, cell: ({ plugins }) => visible(valueText(namesOf(plugins)), 100) },
    { name: 'Tags', minor: true, cell: ({ tags }) => visible(valueText(tags), 100) },
    { name: 'Changed', minor: true, cell: ({ changedAt }) => (changedAt === undefined ? '' : timeOf(changedAt)) },
  ],
  filters: [{ name: 'prefix', label: 'Name starts with' }, { name: 'tag', label: 'Tag' }, stateFilter],
  nameOf: ({ name }) => String(name),
})
