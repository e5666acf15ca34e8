import { apiPath } from './api.js'
import { element } from './elements.js'
import { dataTable, filterForm, pageLinks, timeOf } from './list-page.js'
import { problemPage } from './problem-page.js'
import { shown, valueText, visible } from './shown-text.js'

/** @import { Column } from './list-page.js' */
/** @import { PageMaker } from './shell.js' */

/**
 * A change in the audit trail.
 *
 * @typedef {object} Change
 * @property {string} time
 * @property {string} who
 * @property {string} [from]
 * @property {string} action
 * @property {string} id
 * @property {Record<string, unknown>} [before]
 * @property {Record<string, unknown>} [after]
 * @property {'done' | 'unknown'} outcome
 */

/** @param {Change} change */
function details({ before = {}, after = {} }) {
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  if (members.length === 0) return '–'
  return element(
    'details',
    {},
    element('summary', {}, `${members.length} ${members.length === 1 ? 'member' : 'members'}`),
    element(
      'dl',
      { class: 'headers' },
      ...members.flatMap((name) => [
        element('dt', {}, shown(name, 60)),
        element(
          'dd',
          {},
          element('del', { 'aria-label': 'before' }, shown(valueText(before[name]), 300)),
          ' → ',
          element('ins', { 'aria-label': 'after' }, shown(valueText(after[name]), 300)),
        ),
      ]),
    ),
  )
}

/** The start of a narrow row names who, too: there is no space for a column. @type {readonly Column<Change>[]} */
const columns = [
  { name: 'Time', cell: ({ time }) => timeOf(time) },
  {
    name: 'Change',
    cell: ({ action, id, who, outcome }) => [
      visible(action.replaceAll('_', ' '), 60),
      element('span', { class: 'second' }, shown(id, 80)),
      element('span', { class: 'second narrow' }, 'by ', shown(who, 100)),
      outcome === 'unknown' &&
        element('span', { class: 'second' }, 'It is not known whether this change was completed.'),
    ],
  },
  {
    name: 'By',
    minor: true,
    cell: ({ who, from }) => [
      shown(who, 100),
      from !== undefined && element('span', { class: 'second' }, shown(from, 60)),
    ],
  },
  { name: 'Before and after', cell: details },
]

/** @param {Change} change @param {Readonly<Record<string, string>>} query */
const matches = ({ action, id, who }, { about = '' }) =>
  [action, action.replaceAll('_', ' '), id, who].some((text) => text.toLowerCase().includes(about.toLowerCase()))

/** The audit trail. @type {PageMaker} */
export async function auditPage({ api, query, go, refresh }) {
  const { after } = query
  const response = await api.get(apiPath(['audit'], { after, limit: '200' }))
  if (response.problem !== '') return problemPage('Audit trail', response, () => refresh(''))
  const { items, next } = response.body
  const matching = items.filter((/** @type {Change} */ change) => matches(change, query))
  const more = next === undefined ? '' : ' There is more on the next page.'
  return {
    title: 'Audit trail',
    content: [
      element('p', { class: 'lead' }, 'Who has changed what, the newest first. Secrets are not in it.'),
      filterForm([{ name: 'about', label: 'Only changes that contain' }], query, (chosen) =>
        go(['audit'], { ...chosen, ...(after !== undefined && { after }) }),
      ),
      matching.length > 0
        ? dataTable('Audit trail', columns, matching)
        : element(
            'p',
            { class: 'empty' },
            `${items.length > 0 ? 'No change here matches.' : 'Nothing has been changed yet.'}${more}`,
          ),
      pageLinks(['audit'], query, next),
    ],
  }
}
