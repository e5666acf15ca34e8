import { createDpopKey } from './dpop.js'
import { element } from './elements.js'

/** @import { DpopKey } from './dpop.js' */
/** @import { Setup } from './setup.js' */

/** @param {readonly string[]} algorithms */
function disabledReason(algorithms) {
  if (!isSecureContext)
    return 'Not available: browsers create keys only on https pages and on pages of this machine (localhost).'
  return !algorithms.includes('ES256') && 'Not available: this server does not accept proofs signed with ES256.'
}

/**
 * Returns the checkbox that binds tokens to a key, if the server has DPoP. All token requests of the page use one key,
 * which is created for the first of them.
 *
 * @param {Setup} setup
 */
export function keyBox({ issuer, dpopAlgorithms }) {
  if (dpopAlgorithms === undefined) return { part: undefined, chosen: async () => undefined }
  const reason = disabledReason(dpopAlgorithms)
  const box = element('input', {
    type: 'checkbox',
    id: 'bind',
    'aria-describedby': 'bind-hint',
    disabled: reason !== false,
  })
  const hint =
    'The page creates a key and signs a proof for each request. An access token that is stolen is useless without the key.'
  const part = element(
    'div',
    { class: 'field' },
    element('label', { class: 'box' }, box, 'Bind the tokens to a key (DPoP)'),
    element('p', { class: 'hint', id: 'bind-hint' }, reason || hint),
  )
  /** @type {Promise<DpopKey> | undefined} */
  let key
  const chosen = async () => {
    if (!box.checked) return undefined
    key ??= createDpopKey(issuer)
    return key
  }
  return { part, chosen }
}
