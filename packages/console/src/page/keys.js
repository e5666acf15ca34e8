import { apiPath } from './api.js'
import { ask, confirmed } from './dialogs.js'
import { element, rowButton } from './elements.js'
import { dataTable, timeOf } from './list-page.js'
import { problemPage } from './problem-page.js'
import { shown, visible } from './shown-text.js'

/** @import { PageContext, PageMaker } from './shell.js' */

/** @typedef {Record<string, unknown> & { kid: string }} Key */

/** @param {unknown} seconds since the epoch */
const timeAt = (seconds) => (typeof seconds === 'number' ? timeOf(new Date(seconds * 1000).toISOString()) : '–')

/**
 * Changes the keys. The server refuses a change that caches of clients may not follow yet, unless the administrator insists.
 *
 * @param {PageContext} context
 * @param {readonly string[]} segments
 * @param {{ force?: boolean, compromised?: boolean }} body
 * @param {string} done
 * @returns {Promise<void>}
 */
async function change(context, segments, body, done) {
  const { status, problem } = await context.api.send('POST', apiPath(segments), { body })
  if (problem === '') return context.refresh(done)
  const canInsist = status === 409 && body.force !== true
  const answer = await ask({
    title: 'The server has refused it',
    content: [element('p', {}, visible(problem, 500))],
    answers: canInsist ? [{ answer: 'force', label: 'Do it anyway', tone: 'danger' }] : [],
    dismiss: 'Close',
  })
  if (answer === 'force') await change(context, segments, { ...body, force: true }, done)
}

/** @param {PageContext} context @param {Key} key */
async function retire(context, { kid }) {
  const answer = await ask({
    title: `Retire the key ${visible(kid, 40)}?`,
    content: [
      element('p', {}, 'The server no longer signs with it. Tokens that it has signed stay valid until they expire.'),
      element('p', {}, 'If an attacker may have the key, refuse all that it has signed: users have to sign in again.'),
    ],
    answers: [
      { answer: 'retire', label: 'Retire the key' },
      { answer: 'compromised', label: 'Refuse all that it has signed', tone: 'danger' },
    ],
  })
  if (answer === undefined) return
  await change(context, ['keys', kid, 'retire'], { compromised: answer === 'compromised' }, 'The key is retired.')
}

/** @param {PageContext} context */
async function rotate(context) {
  const text =
    'The server signs with the next keys from now on. Tokens of the earlier ones stay valid until they expire.'
  if (!(await confirmed('Rotate the signing keys?', [text], 'Rotate the keys'))) return
  await change(context, ['keys', 'rotate'], {}, 'The keys are rotated.')
}

/** The signing keys. @type {PageMaker} */
export async function keysPage(context) {
  const response = await context.api.get(apiPath(['keys']))
  if (response.problem !== '') return problemPage('Keys', response, () => context.refresh(''))
  /** @type {Key[]} */
  const items = response.body.items
  const columns = [
    { name: 'Key', cell: (/** @type {Key} */ { kid }) => element('span', { class: 'mono' }, shown(kid, 60)) },
    { name: 'State', cell: (/** @type {Key} */ { state }) => shown(state ?? '–', 40) },
    { name: 'Algorithm', minor: true, cell: (/** @type {Key} */ key) => visible(key.alg ?? key.algorithm ?? '–', 40) },
    { name: 'Added', minor: true, cell: (/** @type {Key} */ { createdAt }) => timeAt(createdAt) },
    {
      name: 'Action',
      cell: (/** @type {Key} */ key) =>
        rowButton('Retire', `Retire the key ${visible(key.kid, 60)}`, () => retire(context, key)),
    },
  ]
  return {
    title: 'Signing keys',
    content: [
      element('p', { class: 'lead' }, 'The server signs tokens with them. Their private parts never leave it.'),
      element(
        'div',
        { class: 'buttons' },
        element('button', { type: 'button', class: 'primary', onclick: () => rotate(context) }, 'Rotate the keys'),
      ),
      items.length > 0
        ? dataTable('Signing keys', columns, items)
        : element('p', { class: 'empty' }, 'The server has no keys of its own.'),
    ],
  }
}
