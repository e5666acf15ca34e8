import { byId, element } from './elements.js'
import { grantLabel } from './labels.js'
import { table } from './table.js'
import { clockTime } from './times.js'

/** @import { Family, ServerEvent, Step } from './families.js' */

const stepKinds = table({
  token_issued: ['Issued', '+', 'good'],
  code_issued: ['Code issued', '+', 'good'],
  code_redeemed: ['Code redeemed', '→', 'plain'],
  code_replayed: ['Code replayed', '!', 'bad'],
  code_ended: ['Code ended', '!', 'bad'],
  refresh_rotated: ['Rotated', '↻', 'plain'],
  refresh_retried: ['Retried', '=', 'plain'],
  refresh_reused: ['Replayed', '!', 'bad'],
  refresh_outdated: ['Too late', '!', 'bad'],
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
  refresh_reused: 'because a spent refresh token was replayed',
  code_replayed: 'because a spent code was replayed',
  revocation_requested: 'because its client revoked it',
})

/**
 * @param {ServerEvent} event
 * @returns {(Node | string)[]}
 */
const tokenLabel = ({ tokenType = '', fingerprint = '' }) => [
  tokenNames[tokenType] ?? '',
  tokenNames[tokenType] === undefined ? '' : ' ',
  element('code', {}, fingerprint),
]

/**
 * Describes a step in a sentence.
 *
 * @param {Step} step
 * @returns {(Node | string)[]}
 */
function describeStep({ type, events }) {
  const [first] = events
  if (first === undefined) return []
  const list = events.flatMap((event, index) => [...(index === 0 ? [] : [', ']), ...tokenLabel(event)])
  switch (type) {
    case 'token_issued':
      return [`With the ${grantLabel(first.grantType ?? '').toLowerCase()} grant: `, ...list, '.']
    case 'code_issued':
      return ['The user signed in. Code ', ...list, '.']
    case 'code_redeemed':
      return ['Code ', ...list, ' is spent.']
    case 'code_ended':
      return ['Code ', ...list, ' is invalid after ten failed redemptions.']
    case 'refresh_rotated':
      return ['Refresh token ', ...list, ' is spent and replaced by a new one.']
    case 'refresh_retried':
      return ['The request with refresh token ', ...list, ' was repeated and got the same refresh token.']
    case 'refresh_outdated':
      return ['Presented again although it is spent: ', ...list, '. Refused; the other tokens are still valid.']
    case 'family_revoked':
      return [`All its tokens are revoked, ${reasons[first.reason ?? ''] ?? first.reason ?? ''}.`]
    case 'token_revoked':
      return ['Revoked by its client: ', ...list, '.']
    default:
      return ['Presented again although it is spent: ', ...list, '.']
  }
}

/** @param {Step} step */
function item(step) {
  const [word, mark, tone] = stepKinds[step.type] ?? [step.type, '·', 'plain']
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
      element('p', {}, ...describeStep(step)),
    ),
  )
}

/** Families that the user opened or closed. By default the family of the current tokens is open. @type {Map<string, boolean>} */
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
    element('span', { class: 'family-name' }, name === '' ? 'Tokens without a family' : `Family ${name}`),
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
 * @param {string | undefined} currentFamily the family of the current tokens
 */
export function drawFamilies(families, currentFamily) {
  const timeline = byId('timeline')
  if (families.length === 0) {
    timeline.replaceChildren(element('p', { class: 'quiet' }, 'Nothing has happened yet.'))
    return
  }
  const focused = [...timeline.querySelectorAll('details')].find((part) => part.contains(document.activeElement))
  const parts = families.map((family, index) => {
    const isOwn = family.name === currentFamily
    return familyPart(family, isOwn, chosen.get(family.name) ?? (currentFamily === undefined ? index === 0 : isOwn))
  })
  timeline.replaceChildren(...parts)
  // The elements are new, so the keyboard focus has to be restored.
  if (focused !== undefined)
    parts
      .find((part) => part.dataset.family === focused.dataset.family)
      ?.querySelector('summary')
      ?.focus()
}
