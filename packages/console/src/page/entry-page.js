import { apiPath } from './api.js'
import { confirmed } from './dialogs.js'
import { element } from './elements.js'
import { entryForm, warningsIn } from './entry-form.js'
import { groupsOf, membersIn } from './entry-members.js'
import { stateTag, timeOf } from './list-page.js'
import { takeNewSecret } from './new-secret.js'
import { problemPage } from './problem-page.js'
import { hashOf } from './route.js'
import { shown, visible } from './shown-text.js'

/** @import { ApiResponse, Method } from './api.js' */
/** @import { EntryKind } from './entry-pages.js' */
/** @import { PageContent, PageContext } from './shell.js' */

/**
 * An entry whose page is open.
 *
 * @typedef {object} OpenEntry
 * @property {string} id
 * @property {Record<string, any>} entry
 * @property {PageContext} context
 * @property {string} path of the API
 * @property {(method: Method, path: string, body: unknown, done: string) => Promise<ApiResponse | undefined>} change sends a
 *   change of the version that the user sees, and shows the page again. Returns the response unless it was refused
 */

/** @param {EntryKind} kind @param {Record<string, unknown>} entry @param {string} idLabel */
const facts = ({ idMember, switchMember }, entry, idLabel) =>
  element(
    'dl',
    { class: 'facts' },
    element('div', {}, element('dt', {}, idLabel), element('dd', { class: 'mono' }, shown(entry[idMember], 100))),
    element('div', {}, element('dt', {}, 'State'), element('dd', {}, stateTag(entry[switchMember] !== false))),
    element('div', {}, element('dt', {}, 'Changed'), element('dd', {}, timeOf(entry.changedAt))),
    element('div', {}, element('dt', {}, 'Added'), element('dd', {}, timeOf(entry.createdAt))),
  )

/** @param {EntryKind} kind */
const listLink = ({ segment, plural }) => element('a', { href: hashOf([segment]) }, `All ${plural}`)

/** @param {EntryKind} kind @param {OpenEntry} open */
function usualActions(kind, open) {
  const {
    noun,
    switchMember,
    offText,
    removedText,
    segment,
    nameOf,
    removal: [verb, done] = ['Remove', 'removed'],
  } = kind
  const { entry, path, change, context } = open
  const name = visible(nameOf(entry), 60)
  const isOn = entry[switchMember] !== false
  async function toggle() {
    if (isOn && !(await confirmed(`Disable ${name}?`, [offText], `Disable the ${noun}`))) return
    await change(
      'PATCH',
      path,
      { [switchMember]: !isOn },
      isOn ? `The ${noun} is disabled.` : `The ${noun} is enabled.`,
    )
  }
  async function remove() {
    if (!(await confirmed(`${verb} ${name}?`, [removedText], `${verb} the ${noun}`))) return
    const response = await change('DELETE', path, undefined, '')
    if (response !== undefined) context.go([segment], {}, `The ${noun} ${name} is ${done}.`)
  }
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'actions-title' },
    element('h2', { id: 'actions-title' }, 'More'),
    element(
      'div',
      { class: 'buttons' },
      element('button', { type: 'button', onclick: toggle }, isOn ? `Disable the ${noun}` : `Enable the ${noun}`),
      element('button', { type: 'button', class: 'danger', onclick: remove }, `${verb} the ${noun}`),
    ),
    element('p', {}, listLink(kind)),
  )
}

/**
 * Returns the page of an entry.
 *
 * @param {EntryKind} kind
 * @param {string} id
 * @param {PageContext} context
 * @returns {Promise<PageContent>}
 */
export async function entryPage(kind, id, context) {
  const { api, draft, refresh } = context
  const path = apiPath([kind.segment, id])
  const [loaded, described] = await Promise.all([api.get(path), api.describe()])
  if (loaded.status === 404 && kind.missing !== undefined) return kind.missing(id, context)
  if (described.problem !== '') return problemPage(visible(id, 60), described, () => refresh(''), listLink(kind))
  if (loaded.problem !== '') return problemPage(visible(id, 60), loaded, () => refresh(''), listLink(kind))
  const entry = loaded.body
  const members = membersIn(described.body, kind.segment)
  const form = entryForm({
    groups: groupsOf(kind, described.body, entry),
    entry,
    ...(loaded.version !== undefined && { version: loaded.version }),
    label: 'Save',
    draft,
    send: (change, version) => api.send('PATCH', path, { body: change, ...(version !== undefined && { version }) }),
    reload: () => api.get(path),
    onSaved: ({ body }) => refresh(`Saved.${warningsIn(body)}`),
  })

  /** @type {OpenEntry['change']} */
  async function change(method, to, body, done) {
    const version = form.version()
    const response = await api.send(method, to, {
      ...(body !== undefined && { body }),
      ...(version !== undefined && { version }),
    })
    if (response.status === 412) {
      await form.onOutdated()
      return undefined
    }
    if (response.problem !== '') {
      form.showProblem(visible(response.problem, 500))
      return undefined
    }
    if (done !== '') refresh(done)
    return response
  }

  const open = { id, entry, context, path, change }
  return {
    title: visible(kind.nameOf(entry), 80),
    content: [
      facts(kind, entry, members.get(kind.idMember)?.label ?? kind.idMember),
      takeNewSecret(hashOf([kind.segment, id])),
      form.form,
      ...(kind.more?.(open) ?? []),
      usualActions(kind, open),
    ],
    draft: form.draft,
  }
}
