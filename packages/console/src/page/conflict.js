import { ask } from './dialogs.js'
import { element } from './elements.js'
import { isSame } from './merge-patch.js'
import { valueText, visible } from './shown-text.js'

/** @import { EntryField } from './entry-fields.js' */

/** @param {EntryField} field */
function ownText({ read, typed }) {
  try {
    return valueText(read())
  } catch {
    return String(typed())
  }
}

/** @param {readonly (readonly [label: string, before: string, theirs: string, yours: string])[]} rows */
const comparison = (rows) =>
  element(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Both versions' },
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          ...['Member', 'When you began', 'Now at the server', 'Yours'].map((name) =>
            element('th', { scope: 'col' }, name),
          ),
        ),
      ),
      element(
        'tbody',
        {},
        ...rows.map(([label, ...texts]) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, label),
            ...texts.map((text) => element('td', {}, element('bdi', {}, visible(text, 300)))),
          ),
        ),
      ),
    ),
  )

/**
 * Shows the members that differ between the version that the user began with, the one at the server, and what the user has
 * typed. Nothing is lost: without an answer, the form keeps what was typed.
 *
 * @param {readonly EntryField[]} fields with the version that the user began with
 * @param {Record<string, unknown>} latest the version at the server
 * @returns {Promise<'save' | 'discard' | undefined>}
 */
export async function resolveConflict(fields, latest) {
  const rows = fields.flatMap((field) => {
    const { member, shown, isChanged } = field
    const theirs = latest[member.name]
    if (!isChanged() && isSame(theirs, shown())) return []
    const row = [member.label, valueText(shown()), valueText(theirs), isChanged() ? ownText(field) : 'not changed']
    return [/** @type {[string, string, string, string]} */ (row)]
  })
  const answer = await ask({
    title: 'Someone else has changed it',
    content: [
      element(
        'p',
        {},
        'After you opened this page, another administrator, another tab or a command has saved a change. Your changes are not saved yet.',
      ),
      comparison(rows),
    ],
    answers: [
      { answer: 'save', label: 'Save my changes on top' },
      { answer: 'discard', label: 'Discard my changes', tone: 'danger' },
    ],
    dismiss: 'Back to the form',
  })
  return answer === 'save' || answer === 'discard' ? answer : undefined
}
