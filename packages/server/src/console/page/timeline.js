import { byId, element } from './elements.js'
import { clockTime } from './times.js'
import { grantName } from './words.js'

/** @import { Family, ServerEvent, Step } from './families.js' */

/** @type {Readonly<Record<string, readonly [word: string, mark: string, tone: string]>>} */
const kinds = {
  token_issued: ['Issued', '+', 'good'],
  code_issued: ['Code issued', '+', 'good'],
  code_redeemed: ['Code redeemed', '→', 'plain'],
  code_replayed: ['Code replayed', '!', 'bad'],
  refresh_rotated: ['Rotated', '↻', 'plain'],
  refresh_retried: ['Retried', '=', 'plain'],
  refresh_reused: ['Replayed', '!', 'bad'],
  redemption_replayed: ['Replayed', '!', 'bad'],
  family_revoked: ['Family revoked', '✕', 'bad'],
  token_revoked: ['Token revoked', '✕', 'bad'],
}

/** @type {Readonly<Record<string, string>>} */
const tokenNames = { access_token: 'access token', refresh_token: 'refresh token', identity_token: 'identity token' }

/** @type {Readonly<Record<string, string>>} */
const reasons = {
  refresh_reused: 'because a used refresh token came again',
  code_replayed: 'because a used code came again',
  revocation_requested: 'because its client asked for it',
}

/**
 * @param {ServerEvent} event
 * @returns {(Node | string)[]}
 */
const named = ({ tokenType = '', fingerprint = '' }) => [
  tokenNames[tokenType] ?? '',
  tokenNames[tokenType] === undefined ? '' : ' ',
  element('code', {}, fingerprint),
]

/**
 * What happened, in a sentence.
 *
 * @param {Step} step
 * @returns {(Node | string)[]}
 */
function sentenceOf({ type, events }) {
  const [first] = events
  if (first === undefined) return []
  const list = events.flatMap((event, index) => [...(index === 0 ? [] : [', ']), ...named(event)])
  switch (type) {
    case 'token_issued':
      return [`By ${grantName(first.grantType ?? '').toLowerCase()}: `, ...list, '.']
    case 'code_issued':
      return ['The user signed in. Code ', ...list, '.']
    case 'code_redeemed':
      return ['Code ', ...list, ' is used up.']
    case 'refresh_rotated':
      return ['Refresh token ', ...list, ' is used up; a new one takes its place.']
    case 'refresh_retried':
      return ['The same request again: refresh token ', ...list, ' got the same answer.']
    case 'family_revoked':
      return [`Every token of it is refused from now on, ${reasons[first.reason ?? ''] ?? first.reason ?? ''}.`]
    case 'token_revoked':
      return ['Its client gave back ', ...list, '.']
    default:
      return ['Presented again after use: ', ...list, '.']
  }
}

/** @param {Step} step */
function item(step) {
  const [word, mark, tone] = kinds[step.type] ?? [step.type, '·', 'plain']
  return element(
    'li',
    { class: `event ${tone}` },
    element('span', { class: 'dot', 'aria-hidden': 'true' }, mark),
    element(
      'div',
      {},
      element(
        'p',
        { class: 'event-head' },
        element('strong', {}, word),
        ' ',
        element('time', { class: 'quiet' }, clockTime(step.time)),
      ),
      element('p', {}, ...sentenceOf(step)),
    ),
  )
}

/**
 * @param {Family} family
 * @param {boolean} isOwn
 * @param {boolean} open
 */
function familyPart({ name, clientId, steps }, isOwn, open) {
  const isRevoked = steps.some(({ type }) => type === 'family_revoked')
  const title = name === '' ? 'Tokens that stand alone' : `Family ${name}`
  const state = isRevoked ? 'revoked' : `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`
  return element(
    'details',
    { class: 'family', open, 'data-family': name },
    element(
      'summary',
      {},
      element('span', { class: 'family-name' }, title),
      isOwn && element('span', { class: 'tag' }, 'yours'),
      element('span', { class: 'quiet' }, name === '' ? state : `${clientId}, ${state}`),
    ),
    element('ol', { class: 'events' }, ...steps.map(item)),
  )
}

/**
 * Draws the families, the latest first. What the user has opened stays open.
 *
 * @param {readonly Family[]} families
 * @param {string | undefined} own the family of the tokens at hand
 */
export function drawFamilies(families, own) {
  const timeline = byId('timeline')
  const drawn = [...timeline.querySelectorAll('details')]
  const wasOpen = new Map(drawn.map((part) => [part.dataset.family, part.open]))
  const focused = drawn.find((part) => part.contains(document.activeElement))?.dataset.family
  if (families.length === 0) {
    timeline.replaceChildren(element('p', { class: 'quiet' }, 'Nothing has happened yet.'))
    return
  }
  timeline.replaceChildren(
    ...families.map((family, index) =>
      familyPart(family, family.name === own, index === 0 || (wasOpen.get(family.name) ?? false)),
    ),
  )
  if (focused !== undefined)
    timeline.querySelector(`details[data-family="${CSS.escape(focused)}"] summary`)?.setAttribute('data-refocus', '')
  const again = timeline.querySelector('[data-refocus]')
  if (again instanceof HTMLElement) again.focus()
}
