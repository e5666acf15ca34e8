import { byId, element } from './elements.js'
import { table } from './table.js'
import { clockTime } from './times.js'
import { grantName } from './words.js'

/** @import { Family, ServerEvent, Step } from './families.js' */

const kinds = table({
  token_issued: ['Issued', '+', 'good'],
  code_issued: ['Code issued', '+', 'good'],
  code_redeemed: ['Code redeemed', '→', 'plain'],
  code_replayed: ['Code replayed', '!', 'bad'],
  code_ended: ['Code ended', '!', 'bad'],
  refresh_rotated: ['Rotated', '↻', 'plain'],
  refresh_retried: ['Retried', '=', 'plain'],
  refresh_reused: ['Replayed', '!', 'bad'],
  redemption_replayed: ['Replayed', '!', 'bad'],
  family_revoked: ['Family revoked', '✕', 'bad'],
  token_revoked: ['Token revoked', '✕', 'bad'],
})

const tokenNames = table({
  access_token: 'access token',
  refresh_token: 'refresh token',
  identity_token: 'identity token',
})

const reasons = table({
  refresh_reused: 'because a used refresh token came again',
  code_replayed: 'because a used code came again',
  revocation_requested: 'because its client asked for it',
})

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
    case 'code_ended':
      return ['Ten redemptions failed their proof: code ', ...list, ' is ended.']
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

/** What the user has opened or closed; the rest is open where it is about the tokens at hand. @type {Map<string, boolean>} */
const chosen = new Map()

/**
 * @param {Family} family
 * @param {boolean} isOwn
 * @param {boolean} open
 */
function familyPart({ name, clientId, steps }, isOwn, open) {
  const isRevoked = steps.some(({ type }) => type === 'family_revoked')
  const count = `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`
  const summary = element(
    'summary',
    {},
    element('span', { class: 'family-name' }, name === '' ? 'Tokens that stand alone' : `Family ${name}`),
    isOwn && element('span', { class: 'tag' }, 'yours'),
    element('span', { class: 'quiet' }, name === '' ? count : `${clientId}, ${isRevoked ? 'revoked' : count}`),
  )
  const part = element(
    'details',
    { class: 'family', open, 'data-family': name },
    summary,
    element('ol', { class: 'events' }, ...steps.map(item)),
  )
  summary.addEventListener('click', () => chosen.set(name, !part.open))
  return part
}

/**
 * Draws the families, the latest first.
 *
 * @param {readonly Family[]} families
 * @param {string | undefined} own the family of the tokens at hand
 */
export function drawFamilies(families, own) {
  const timeline = byId('timeline')
  if (families.length === 0) {
    timeline.replaceChildren(element('p', { class: 'quiet' }, 'Nothing has happened yet.'))
    return
  }
  const focused = [...timeline.querySelectorAll('details')].find((part) => part.contains(document.activeElement))
  const parts = families.map((family, index) => {
    const isOwn = family.name === own
    return familyPart(family, isOwn, chosen.get(family.name) ?? (own === undefined ? index === 0 : isOwn))
  })
  timeline.replaceChildren(...parts)
  // Drawn anew under the keyboard of somebody who stands on it.
  if (focused !== undefined)
    parts
      .find((part) => part.dataset.family === focused.dataset.family)
      ?.querySelector('summary')
      ?.focus()
}
