// Prints a new private key as a JWK, for SIGNING_KEY.
const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', privateKey)
console.log(JSON.stringify({ kty, crv, x, y, d, alg: 'ES256' }))
