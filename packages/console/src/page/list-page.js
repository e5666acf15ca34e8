import { element, field, textInput } from './elements.js'
import { hashOf } from './route.js'
import { visible } from './shown-text.js'

/** @import { Child } from './elements.js' */

/**
 * A column of a table.
 *
 * @template T
 * @typedef {object} Column
 * @property {string} name
 * @property {(item: T) => Child | readonly Child[]} cell
 * @property {boolean} [minor] whether a narrow window can do without it
 */

const classOf = (/** @type {Column<any>} */ { minor = false }) => (minor ? { class: 'minor' } : {})

/** @param {Child | readonly Child[]} cell @returns {readonly Child[]} */
const childrenOf = (cell) => (Array.isArray(cell) ? cell : [/** @type {Child} */ (cell)])

/**
 * Returns a table. The first column names the row.
 *
 * @template T
 * @param {string} caption for screen readers
 * @param {readonly Column<T>[]} columns
 * @param {readonly T[]} items
 */
export function dataTable(caption, columns, items) {
  const head = columns.map((column) => element('th', { scope: 'col', ...classOf(column) }, column.name))
  const rows = items.map((item) =>
    element(
      'tr',
      {},
      ...columns.map((column, index) =>
        index === 0
          ? element('th', { scope: 'row' }, ...childrenOf(column.cell(item)))
          : element('td', classOf(column), ...childrenOf(column.cell(item))),
      ),
    ),
  )
  return element(
    'table',
    {},
    element('caption', { class: 'unseen' }, caption),
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...rows),
  )
}

/** @param {boolean} isOn @param {readonly [on: string, off: string]} [names] */
export const stateTag = (isOn, [on, off] = ['enabled', 'disabled']) =>
  element('span', { class: isOn ? 'tag' : 'tag off' }, isOn ? on : off)

/** @param {unknown} time ISO 8601 */
export function timeOf(time) {
  const date = new Date(String(time))
  if (Number.isNaN(date.getTime())) return element('span', {}, visible(time, 40))
  const text = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' }).format(date)
  return element('time', { datetime: date.toISOString() }, text)
}

/**
 * Returns the links below a list.
 *
 * @param {readonly string[]} segments
 * @param {Readonly<Record<string, string>>} query
 * @param {unknown} next the position of the next page
 */
export function pageLinks(segments, query, next) {
  const { after, ...filter } = query
  if (after === undefined && typeof next !== 'string') return undefined
  return element(
    'nav',
    { class: 'buttons', 'aria-label': 'Pages of the list' },
    after !== undefined && element('a', { href: hashOf(segments, filter) }, 'First page'),
    typeof next === 'string' &&
      element('a', { href: hashOf(segments, { ...filter, after: next }), rel: 'next' }, 'Next page'),
  )
}

/**
 * A filter of a list.
 *
 * @typedef {object} Filter
 * @property {string} name the parameter
 * @property {string} label
 * @property {readonly (readonly [value: string, text: string])[]} [options] of a choice; otherwise a text
 */

/** @param {Filter} filter @param {string} value */
function filterControl({ name, label, options }, value) {
  const id = `filter-${name}`
  if (options === undefined) return { name, control: textInput(id, value, { type: 'search' }), label }
  const control = element(
    'select',
    { id },
    ...options.map(([option, text]) => element('option', { value: option }, text)),
  )
  control.value = value
  return { name, control, label }
}

/**
 * Returns the form that filters a list. The filters are in the address, so that a link contains them.
 *
 * @param {readonly Filter[]} filters
 * @param {Readonly<Record<string, string>>} query
 * @param {(query: Record<string, string>) => void} onFilter
 */
export function filterForm(filters, query, onFilter) {
  const controls = filters.map((filter) => filterControl(filter, query[filter.name] ?? ''))
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault()
    onFilter(Object.fromEntries(controls.map(({ name, control }) => [name, control.value.trim()])))
  }
  return element(
    'form',
    { class: 'filters', role: 'search', onsubmit },
    ...controls.map(({ label, control }) => field(label, control)),
    element('button', { type: 'submit' }, 'Search'),
  )
}
