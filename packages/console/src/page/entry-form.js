import { resolveConflict } from './conflict.js'
import { element } from './elements.js'
import { entryField, rebase } from './entry-fields.js'
import { patchBetween } from './merge-patch.js'
import { visible } from './shown-text.js'

/** @import { ApiResponse } from './api.js' */
/** @import { EntryField, Member } from './entry-fields.js' */

/**
 * @typedef {object} MemberGroup
 * @property {string} title
 * @property {readonly Member[]} members
 * @property {boolean} [closed] whether the group starts closed, unless one of its members has a value
 *
 * @typedef {object} FormParts
 * @property {readonly MemberGroup[]} groups
 * @property {Record<string, any>} entry what the form shows first
 * @property {string} [version] the ETag of the entry; absent for a new one
 * @property {string} label of the button
 * @property {(change: Record<string, unknown>, version: string | undefined) => Promise<ApiResponse>} send
 * @property {() => Promise<ApiResponse>} [reload] reads the entry again
 * @property {(response: ApiResponse) => void} onSaved
 * @property {unknown} [draft] what the user has typed before, as `draft()` has returned it
 */

/**
 * Returns what the server warns of in a change that it has made, to be shown after it.
 *
 * @param {any} body
 */
export const warningsIn = ({ warnings = [] }) =>
  warnings.map((/** @type {string} */ warning) => ` Warning: ${visible(warning, 500)}.`).join('')

/** @param {MemberGroup} group @param {readonly EntryField[]} fields */
function groupPart({ title, closed = false }, fields) {
  const parts = fields.map(({ part }) => part)
  if (!closed) return element('fieldset', {}, element('legend', {}, title), ...parts)
  const isSet = fields.some(({ shown }) => shown() !== undefined)
  return element(
    'details',
    { class: 'more', open: isSet },
    element('summary', {}, title),
    element('div', { class: 'rows' }, ...parts),
  )
}

/**
 * Returns the values that the user has changed; `undefined` if one is wrong, which is then marked.
 *
 * @param {readonly EntryField[]} fields
 */
function changesIn(fields) {
  /** @type {Record<string, unknown>} */
  const change = {}
  let isRight = true
  for (const { member, read, shown, isChanged, complain } of fields) {
    if (!isChanged()) continue
    try {
      change[member.name] = patchBetween(shown(), read())
    } catch (error) {
      complain(error instanceof Error ? error.message : '')
      isRight = false
    }
  }
  return isRight ? change : undefined
}

/** @param {readonly EntryField[]} fields @param {unknown} draft */
function restore(fields, draft) {
  if (typeof draft !== 'object' || draft === null) return false
  const kept = new Map(Object.entries(draft))
  const changed = fields.filter(({ member }) => kept.has(member.name))
  for (const { member, type } of changed) type(kept.get(member.name))
  return changed.length > 0
}

/** Returns the elements for the reports of a form: problems interrupt a screen reader, other news do not. */
function reports() {
  const problem = element('p', { class: 'problem', role: 'alert' })
  const news = element('p', { class: 'hint', role: 'status' })
  /** @param {string} text */
  const showProblem = (text) => {
    problem.textContent = text
  }
  /** @param {string} text */
  const showNews = (text) => {
    news.textContent = text
  }
  return { part: element('div', { class: 'reports' }, problem, news), showProblem, showNews }
}

/** @param {EntryField | undefined} field */
function focusOn(field) {
  field?.control.closest('details')?.setAttribute('open', '')
  field?.control.focus()
}

/**
 * Creates the function that saves a form. It sends only what the user has changed, and keeps it in the form if the
 * request fails.
 *
 * @param {FormParts} parts
 * @param {readonly EntryField[]} fields
 * @param {ReturnType<typeof reports>} report
 * @param {HTMLButtonElement} button
 */
function createSaving({ version: seen, send, reload, onSaved }, fields, { showProblem, showNews }, button) {
  let version = seen

  /** @param {ApiResponse} response */
  function explain({ problem, member }) {
    const wrong = fields.find((field) => field.member.name === member?.replace(/[.[].*$/su, ''))
    wrong?.complain(visible(problem, 500))
    showProblem(wrong === undefined ? visible(problem, 500) : 'Not saved: a value is wrong.')
    focusOn(wrong)
  }

  /** @returns {Promise<void>} */
  async function onOutdated() {
    const latest = await reload?.()
    if (latest === undefined) return
    if (latest.problem !== '') return explain(latest)
    const decision = await resolveConflict(fields, latest.body)
    version = latest.version
    if (decision === 'discard') for (const { member, show } of fields) show(latest.body[member.name])
    else rebase(fields, latest.body)
    if (decision === 'save') return save()
    showNews(
      decision === 'discard'
        ? 'Your changes are discarded. The form shows what is saved.'
        : 'Not saved. The form shows the newest values, and what you have typed.',
    )
  }

  /** @returns {Promise<void>} */
  async function save() {
    showProblem('')
    showNews('')
    for (const { complain } of fields) complain('')
    const change = changesIn(fields)
    if (change === undefined) {
      showProblem('Not saved: a value is wrong.')
      return focusOn(fields.find(({ control }) => control.hasAttribute('aria-invalid')))
    }
    if (Object.keys(change).length === 0) return showNews('There is nothing to save.')
    button.disabled = true
    const response = await send(change, version)
    button.disabled = false
    if (response.status === 412) return onOutdated()
    if (response.problem !== '') return explain(response)
    version = response.version
    for (const { member, show } of fields) show(response.body[member.name])
    onSaved(response)
  }

  return { save, onOutdated, version: () => version }
}

/**
 * Returns the form of an entry.
 *
 * @param {FormParts} parts
 */
export function entryForm(parts) {
  const { groups, entry, label, draft } = parts
  const byGroup = groups.map((group) => ({ group, fields: group.members.map(entryField) }))
  const fields = byGroup.flatMap((section) => section.fields)
  for (const { member, show } of fields) show(entry[member.name])
  const report = reports()
  const button = element('button', { type: 'submit', class: 'primary' }, label)
  const saving = createSaving(parts, fields, report, button)
  if (restore(fields, draft)) report.showNews('What you typed before is still here. It is not saved yet.')
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void saving.save()
  }
  const form = element(
    'form',
    { class: 'entry', autocomplete: 'off', novalidate: true, onsubmit },
    ...byGroup.map(({ group, fields: ofGroup }) => groupPart(group, ofGroup)),
    report.part,
    element('div', { class: 'buttons' }, button),
  )

  function unsaved() {
    // A password is not kept anywhere.
    const changed = fields.filter(({ isChanged, member }) => isChanged() && member.kind !== 'password')
    if (changed.length === 0) return undefined
    return Object.fromEntries(changed.map(({ member, typed }) => [member.name, typed()]))
  }

  return {
    form,
    draft: unsaved,
    version: saving.version,
    onOutdated: saving.onOutdated,
    showProblem: report.showProblem,
  }
}
