import { ask } from './dialogs.js'
import { choice, element, field } from './elements.js'
import { dataTable } from './list-page.js'
import { keepNewSecret } from './new-secret.js'
import { hashOf } from './route.js'
import { valueText, visible } from './shown-text.js'

/** @import { OpenEntry } from './entry-page.js' */

/** Durations in seconds, with their texts. */
const overlaps = /** @type {const} */ ([
  ['0', 'end now'],
  ['3600', 'work for one more hour'],
  ['86400', 'work for one more day'],
  ['604800', 'work for seven more days'],
  ['2592000', 'work for 30 more days'],
])

/** @param {boolean} isFirst */
const labelOf = (isFirst) => (isFirst ? 'Create a secret' : 'Rotate the secret')

/** @param {string} segment @param {OpenEntry} open @param {boolean} isFirst */
async function rotate(segment, { id, path, change, context }, isFirst) {
  const overlap = choice('overlap', overlaps, '604800')
  const answer = await ask({
    title: labelOf(isFirst),
    content: [
      element('p', {}, 'The server creates a new secret and shows it once.'),
      isFirst
        ? undefined
        : field('The secrets until now', overlap, 'Long enough to give the application its new secret.'),
    ],
    answers: [{ answer: 'yes', label: isFirst ? 'Create a secret' : 'Create a new secret' }],
  })
  if (answer !== 'yes') return
  const response = await change('POST', `${path}/rotate-secret`, { overlap: Number(overlap.value) }, '')
  if (response === undefined) return
  keepNewSecret(hashOf([segment, id]), response.body.secret)
  context.refresh('There is a new secret. Copy it now.')
}

/** @param {unknown} secrets @returns {readonly Record<string, unknown>[]} */
const listOf = (secrets) => (Array.isArray(secrets) ? secrets : [])

/**
 * Returns the secrets of an entry, without the secrets themselves.
 *
 * @param {string} segment
 * @param {OpenEntry} open
 * @param {string} purpose what a secret is for, in one sentence
 */
export function secretsPart(segment, open, purpose) {
  const secrets = listOf(open.entry.secrets)
  const isFirst = secrets.length === 0
  const columns = [
    { name: 'Secret', cell: (/** @type {Record<string, unknown>} */ secret) => `${secrets.indexOf(secret) + 1}` },
    {
      name: 'Ends',
      cell: (/** @type {Record<string, unknown>} */ { expiresAt }) =>
        expiresAt === null || expiresAt === undefined ? 'never' : visible(valueText(expiresAt), 40),
    },
  ]
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'secrets-title' },
    element('h2', { id: 'secrets-title' }, 'Secrets'),
    element('p', { class: 'quiet' }, purpose),
    isFirst ? element('p', {}, 'It has no secret.') : dataTable('Secrets', columns, secrets),
    element(
      'div',
      { class: 'buttons' },
      element('button', { type: 'button', onclick: () => rotate(segment, open, isFirst) }, labelOf(isFirst)),
    ),
  )
}
