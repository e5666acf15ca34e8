import { element } from './elements.js'
import { stateFilter } from './entry-list.js'
import { entryPages } from './entry-pages.js'
import { stateTag, timeOf } from './list-page.js'
import { secretsPart } from './rotate-secret.js'
import { hashOf } from './route.js'
import { shown, valueText, visible } from './shown-text.js'

export const clientsPage = entryPages({
  segment: 'clients',
  title: 'Clients',
  noun: 'client',
  plural: 'clients',
  lead: 'The applications that request tokens from this server.',
  idMember: 'clientId',
  switchMember: 'enabled',
  offText: 'It gets no more tokens, and those that it has end immediately. You can enable it again.',
  removedText: 'It gets no more tokens, and those that it has end immediately. This cannot be undone.',
  columns: [
    {
      name: 'Client',
      cell: ({ clientId, clientName }) => [
        element('a', { href: hashOf(['clients', String(clientId)]) }, shown(clientId, 100)),
        clientName !== undefined && element('span', { class: 'second' }, shown(clientName, 80)),
      ],
    },
    {
      name: 'State',
      cell: ({ enabled, unreadable }) => (unreadable === true ? 'unreadable' : stateTag(enabled !== false)),
    },
    { name: 'Grant types', minor: true, cell: ({ grantTypes }) => visible(valueText(grantTypes), 100) },
    { name: 'Tags', minor: true, cell: ({ tags }) => visible(valueText(tags), 100) },
    { name: 'Changed', minor: true, cell: ({ changedAt }) => (changedAt === undefined ? '' : timeOf(changedAt)) },
  ],
  filters: [{ name: 'prefix', label: 'Id starts with' }, { name: 'tag', label: 'Tag' }, stateFilter],
  nameOf: ({ clientId, clientName }) => String(clientName ?? clientId),
  more: (open) =>
    open.entry.public === true ? [] : [secretsPart('clients', open, 'The application proves with it who it is.')],
})
