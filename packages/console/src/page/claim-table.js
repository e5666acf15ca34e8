import { explainClaim } from './claims.js'
import { element } from './elements.js'

/**
 * Returns a list of claims, or of similar members, with their meanings.
 *
 * @param {string} caption
 * @param {Record<string, unknown>} claims
 * @param {'token' | 'proof' | 'key'} [of]
 */
export const claimTable = (caption, claims, of) =>
  element(
    'div',
    { class: 'claims' },
    element('h4', {}, caption),
    element(
      'dl',
      {},
      ...Object.entries(claims).map(([name, value]) => {
        const { shown, words, meaning } = explainClaim(name, value, of)
        return element(
          'div',
          { class: 'claim' },
          element('dt', {}, element('code', {}, name)),
          element(
            'dd',
            {},
            element('span', { class: 'mono' }, shown),
            words !== undefined && element('span', { class: 'words' }, words),
          ),
          element('dd', { class: 'meaning' }, meaning),
        )
      }),
    ),
  )
