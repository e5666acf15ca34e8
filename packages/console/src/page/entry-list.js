import { apiPath } from './api.js'
import { element } from './elements.js'
import { dataTable, filterForm, pageLinks } from './list-page.js'
import { problemPage } from './problem-page.js'
import { hashOf } from './route.js'

/** @import { EntryKind } from './entry-pages.js' */
/** @import { PageContent, PageContext } from './shell.js' */

export const stateFilter = {
  name: 'enabled',
  label: 'State',
  options: /** @type {const} */ ([
    ['', 'all'],
    ['true', 'enabled'],
    ['false', 'disabled'],
  ]),
}

/** @param {EntryKind} kind @param {boolean} isFiltered @param {boolean} hasMore */
function emptyText({ noun, plural }, isFiltered, hasMore) {
  if (hasMore) return 'Nothing here matches. There is more on the next page.'
  const rest = `${plural} in the configuration file are not listed.`
  const configured = rest[0]?.toUpperCase() + rest.slice(1)
  return isFiltered ? `No ${noun} matches. ${configured}` : `There are no ${plural} in the storage yet. ${configured}`
}

/**
 * Returns the list of the entries of a kind.
 *
 * @param {EntryKind} kind
 * @param {PageContext} context
 * @returns {Promise<PageContent>}
 */
export async function entryList(kind, { api, query, go, refresh }) {
  const { segment, title, noun, lead, columns, filters } = kind
  const pageQuery = { ...query, limit: '50' }
  const response = await api.get(kind.listPath?.(pageQuery) ?? apiPath([segment], pageQuery))
  if (response.problem !== '') return problemPage(title, response, () => refresh(''))
  const { items, next } = response.body
  const isFiltered = Object.values(query).some((value) => value !== '')
  return {
    title,
    content: [
      element('p', { class: 'lead' }, lead),
      element(
        'div',
        { class: 'tools' },
        filterForm(filters, query, (chosen) => go([segment], chosen)),
        element('a', { class: 'button primary', href: hashOf([segment], { new: 'yes' }) }, `Add a ${noun}`),
      ),
      items.length > 0
        ? dataTable(title, columns, items)
        : element('p', { class: 'empty' }, emptyText(kind, isFiltered, next !== undefined)),
      pageLinks([segment], query, next),
    ],
  }
}
