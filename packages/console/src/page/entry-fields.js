import { choice, element, field, textInput } from './elements.js'
import { parseJson, parseNumber } from './exact-json.js'
import { isSame } from './merge-patch.js'
import { visible, visibleJson } from './shown-text.js'

/**
 * A member of an entry, as a form shows it.
 *
 * @typedef {object} Member
 * @property {string} name
 * @property {string} label
 * @property {'text' | 'list' | 'oneOrMore' | 'number' | 'switch' | 'flag' | 'choice' | 'json' | 'password'} kind
 * @property {string} hint what the member does, in one sentence
 * @property {readonly string[]} [options] of a choice
 * @property {unknown} [fallback] what the server uses without a value
 *
 * A control with the value of a member.
 * @typedef {object} EntryField
 * @property {Member} member
 * @property {HTMLElement} part
 * @property {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} control
 * @property {() => unknown} read returns the value; `undefined` if there is none. Throws a TypeError with one sentence
 * @property {() => string | boolean} typed what the user has typed, right or wrong
 * @property {(typed: string | boolean) => void} type
 * @property {(value: unknown) => void} show
 * @property {() => unknown} shown the value that was shown last
 * @property {() => boolean} isChanged
 * @property {(problem: string) => void} complain marks the control as wrong; an empty problem as right
 */

/** @param {string} text */
const linesOf = (text) =>
  text
    .split(/[\n,]/u)
    .map((line) => line.trim())
    .filter(Boolean)

/** @param {unknown} value */
const asLines = (value) => (Array.isArray(value) ? value.join('\n') : String(value))

/** @type {Record<Member['kind'], { write: (value: any) => string, read: (text: string) => unknown }>} */
const kinds = {
  text: { write: String, read: (text) => text.trim() },
  password: { write: String, read: (text) => text },
  choice: { write: String, read: (text) => text },
  flag: { write: String, read: (text) => text === 'true' },
  switch: { write: String, read: (text) => text === 'true' },
  list: { write: asLines, read: linesOf },
  oneOrMore: {
    write: asLines,
    read(text) {
      const [first, ...others] = linesOf(text)
      return others.length === 0 ? first : [first, ...others]
    },
  },
  number: { write: String, read: parseNumber },
  json: { write: visibleJson, read: parseJson },
}

/** The values of a switch whose default is not known. */
const flags = /** @type {const} */ ([
  ['true', 'yes'],
  ['false', 'no'],
])

/** @param {Member} member @param {string} id */
function controlOf({ kind, options = [], fallback }, id) {
  if (kind === 'choice' || kind === 'flag') {
    const none = /** @type {const} */ (['', `Default${fallback === undefined ? '' : ` (${fallback})`}`])
    const values = options.map((value) => /** @type {const} */ ([value, value]))
    return choice(id, [none, ...(kind === 'flag' ? flags : values)])
  }
  if (kind === 'switch') return element('input', { type: 'checkbox', id })
  if (kind === 'list' || kind === 'oneOrMore' || kind === 'json')
    return element('textarea', { id, rows: kind === 'json' ? '4' : '2', spellcheck: 'false', autocapitalize: 'off' })
  return textInput(id, '', {
    ...(kind === 'number' && { inputmode: 'numeric' }),
    ...(kind === 'password' && { type: 'password', autocomplete: 'new-password' }),
    ...(fallback !== undefined && { placeholder: `${fallback}` }),
  })
}

/** @param {Member} member @param {ReturnType<typeof controlOf>} control @param {HTMLElement} problem */
function partOf({ kind, label, hint }, control, problem) {
  if (kind !== 'switch') {
    const part = field(label, /** @type {HTMLInputElement} */ (control), hint)
    part.append(problem)
    return part
  }
  control.setAttribute('aria-describedby', `${control.id}-hint`)
  return element(
    'div',
    { class: 'field' },
    element('label', { class: 'box' }, control, label),
    element('p', { class: 'hint', id: `${control.id}-hint` }, hint),
    problem,
  )
}

/**
 * Returns the control of a member.
 *
 * @param {Member} member
 * @returns {EntryField}
 */
export function entryField(member) {
  const id = `member-${member.name}`
  const control = controlOf(member, id)
  const problem = element('p', { class: 'problem', id: `${id}-problem`, hidden: true })
  const part = partOf(member, control, problem)
  const warning = element('p', { class: 'hint', hidden: true })
  part.append(warning)
  const described = control.getAttribute('aria-describedby') ?? ''
  const { read, write } = kinds[member.kind]
  const box = control instanceof HTMLInputElement && control.type === 'checkbox' ? control : undefined
  /** @type {unknown} */
  let shown
  /** @type {string | boolean} */
  let typedAtFirst = box === undefined ? '' : false

  const typed = () => (box === undefined ? control.value : box.checked)
  /** @param {string | boolean} value */
  function type(value) {
    if (box === undefined) control.value = String(value)
    else box.checked = value === true
  }

  return {
    member,
    part,
    control,
    typed,
    type,
    shown: () => shown,
    isChanged: () => typed() !== typedAtFirst,
    read() {
      // An untouched control keeps what it could not show exactly.
      if (typed() === typedAtFirst) return shown
      if (box !== undefined) return box.checked
      return control.value.trim() === '' ? undefined : read(control.value)
    },
    show(value) {
      shown = value
      const present = box === undefined ? value : (value ?? member.fallback)
      type(box === undefined ? (present === undefined ? '' : write(present)) : present === true)
      typedAtFirst = typed()
      // A control shows such characters as any browser does: not at all.
      const text = String(typed()).replaceAll('\n', '')
      warning.hidden = visible(text, Number.POSITIVE_INFINITY) === text
      warning.textContent = `It contains characters that are not visible: ${visible(text, 500)}`
    },
    complain(text) {
      problem.textContent = text
      problem.hidden = text === ''
      control.setAttribute('aria-describedby', text === '' ? described : `${problem.id} ${described}`)
      if (text === '') control.removeAttribute('aria-invalid')
      else control.setAttribute('aria-invalid', 'true')
    },
  }
}

/**
 * Shows a newer value of an entry, and keeps what the user has changed.
 *
 * @param {readonly EntryField[]} fields
 * @param {Record<string, unknown>} latest
 */
export function rebase(fields, latest) {
  for (const { member, show, shown, typed, type, isChanged } of fields) {
    const value = latest[member.name]
    if (isSame(value, shown())) continue
    const kept = isChanged() ? typed() : undefined
    show(value)
    if (kept !== undefined) type(kept)
  }
}
