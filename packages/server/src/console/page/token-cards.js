import { explainClaim } from './claims.js'
import { byId, copyButton, element } from './elements.js'
import { decodeJwt, fingerprintOf } from './jwt.js'

/** @import { Session } from './session.js' */

/** On a narrow page the tokens start closed, because they would push everything else far down. */
const wideScreen = matchMedia('(min-width: 58rem)')

/**
 * @param {string} caption
 * @param {Record<string, unknown>} claims
 */
const claimTable = (caption, claims) =>
  element(
    'div',
    { class: 'claims' },
    element('h4', {}, caption),
    element(
      'dl',
      {},
      ...Object.entries(claims).map(([name, value]) => {
        const { shown, words, meaning } = explainClaim(name, value)
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

/**
 * @param {string} name
 * @param {string} what
 * @param {string} token
 * @param {...(Node | false)} inside
 */
async function card(name, what, token, ...inside) {
  const fingerprint = await fingerprintOf(token)
  return element(
    'details',
    { class: 'token', open: wideScreen.matches },
    element('summary', {}, element('h3', {}, name)),
    element(
      'div',
      { class: 'token-inside' },
      element('p', {}, what),
      element('p', { class: 'raw mono' }, token),
      element(
        'div',
        { class: 'block-head' },
        fingerprint !== undefined &&
          element(
            'p',
            { class: 'hint' },
            'Shown in events as ',
            element('code', {}, fingerprint),
            ', the start of its SHA-256.',
          ),
        copyButton(`Copy the ${name.toLowerCase()}`, token),
      ),
      ...inside.filter((part) => part !== false),
    ),
  )
}

/** @param {string} token */
function decodedTables(token) {
  const jwt = decodeJwt(token)
  if (jwt === undefined) return []
  return [claimTable('Header', jwt.header), claimTable('Claims', jwt.claims)]
}

/** @param {Session} session */
function accessCard({ access = '', introspected }) {
  const content = decodedTables(access)
  const isJwt = content.length > 0
  const what = isJwt
    ? 'A JWT (JSON Web Token). An API can read it and verify it with the public key of the server.'
    : 'A reference token: a random text without claims. An API introspects it at the server: press Introspect.'
  const introspection = !isJwt && introspected !== undefined && claimTable('Introspection response', introspected)
  return card('Access token', `${what} The client sends it to an API.`, access, ...content, introspection)
}

/** @param {Session} session */
export async function showTokens(session) {
  const { refresh, identity } = session
  const cards = [accessCard(session)]
  if (refresh !== undefined) {
    cards.push(
      card(
        'Refresh token',
        'A random text without claims. The client exchanges it at this server for new tokens. It can be used once.',
        refresh,
      ),
    )
  }
  if (identity !== undefined) {
    cards.push(
      card(
        'Identity token',
        'Tells the client who signed in. It is for the client only, not for APIs.',
        identity,
        ...decodedTables(identity),
      ),
    )
  }
  byId('token-list').replaceChildren(...(await Promise.all(cards)))
}
