/**
 * A page of the administration, in the fragment of the address: a link to it can be shared, and a reload returns to it.
 *
 * @typedef {object} Route
 * @property {readonly string[]} segments such as `['clients', 'shop']`
 * @property {Readonly<Record<string, string>>} query
 */

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Reads a fragment such as `#/clients/shop`. Any other one leads to the first page.
 *
 * @param {string} hash
 * @returns {Route}
 */
export function routeIn(hash) {
  const [path = '', query = ''] = hash.split('?', 2)
  const segments = path.startsWith('#/') ? path.slice(2).split('/').filter(Boolean).map(decoded) : []
  return { segments, query: Object.assign(Object.create(null), Object.fromEntries(new URLSearchParams(query))) }
}

/**
 * @param {readonly string[]} segments
 * @param {Record<string, string | undefined>} [query]
 */
export function hashOf(segments, query = {}) {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) parameters.set(name, value)
  const path = `#/${segments.map(encodeURIComponent).join('/')}`
  return parameters.size === 0 ? path : `${path}?${parameters}`
}
