import { claimTable } from './claim-table.js'
import { byId, copyButton, element } from './elements.js'
import { decodeJwt, fingerprintOf } from './jwt.js'

/** @import { DpopKey } from './dpop.js' */
/** @import { Session } from './session.js' */

/** On a narrow page the tokens start closed, because they would push everything else far down. */
const wideScreen = matchMedia('(min-width: 58rem)')

/**
 * @param {string} name
 * @param {string} what
 * @param {...(Node | false)} inside
 */
const card = (name, what, ...inside) =>
  element(
    'details',
    { class: 'token', open: wideScreen.matches },
    element('summary', {}, element('h3', {}, name)),
    element('div', { class: 'token-inside' }, element('p', {}, what), ...inside),
  )

/**
 * @param {string} name
 * @param {string} what
 * @param {string} token
 * @param {...(Node | false)} inside
 */
async function tokenCard(name, what, token, ...inside) {
  const fingerprint = await fingerprintOf(token)
  return card(
    name,
    what,
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
    ...inside,
  )
}

/** @param {DpopKey} key */
const keyCard = ({ jwk, thumbprint }) =>
  card(
    'Key',
    'Requests with the access token need a proof that this key has signed. The private key is in the memory of this page only, cannot be exported, and is gone when you close the page.',
    claimTable('Public key (JWK)', jwk, 'key'),
    claimTable('Thumbprint (RFC 7638)', { jkt: thumbprint }, 'key'),
  )

/** @param {string} token */
function decodedTables(token) {
  const jwt = decodeJwt(token)
  if (jwt === undefined) return []
  return [claimTable('Header', jwt.header), claimTable('Claims', jwt.claims)]
}

/** @param {Session} session */
function accessCard({ access = '', introspected, key }) {
  const content = decodedTables(access)
  const isJwt = content.length > 0
  const what = isJwt
    ? 'A JWT (JSON Web Token). An API can read it and verify it with the public key of the server.'
    : 'A reference token: a random text without claims. An API introspects it at the server: press Introspect.'
  const introspection = !isJwt && introspected !== undefined && claimTable('Introspection response', introspected)
  return tokenCard(
    'Access token',
    `${what} The client sends it to an API${key === undefined ? '' : ', each time with a new proof of the key below'}.`,
    access,
    ...content,
    introspection,
  )
}

/** @param {Session} session */
export async function showTokens(session) {
  const { refresh, identity, key } = session
  /** @type {(Node | Promise<Node>)[]} */
  const cards = [accessCard(session)]
  if (key !== undefined) cards.push(keyCard(key))
  if (refresh !== undefined) {
    cards.push(
      tokenCard(
        'Refresh token',
        'A random text without claims. The client exchanges it at this server for new tokens. It can be used once.',
        refresh,
      ),
    )
  }
  if (identity !== undefined) {
    cards.push(
      tokenCard(
        'Identity token',
        'Tells the client who signed in. It is for the client only, not for APIs.',
        identity,
        ...decodedTables(identity),
      ),
    )
  }
  byId('token-list').replaceChildren(...(await Promise.all(cards)))
}
