import { copyButton, element } from './elements.js'

/** Secrets that were created and not shown yet, by the fragment of the page that shows them. @type {Map<string, string>} */
const created = new Map()

/**
 * Keeps a new secret for the page that shows it.
 *
 * @param {string} hash
 * @param {unknown} secret
 */
export function keepNewSecret(hash, secret) {
  if (typeof secret === 'string') created.set(hash, secret)
}

/**
 * Returns the new secret of a page, which is shown once: it is gone when the user leaves the page.
 *
 * @param {string} hash
 */
export function takeNewSecret(hash) {
  const secret = created.get(hash)
  created.delete(hash)
  if (secret === undefined) return undefined
  return element(
    'section',
    { class: 'secret', 'aria-labelledby': 'secret-title' },
    element('h2', { id: 'secret-title' }, 'New secret'),
    element('p', {}, 'Copy it now. The server keeps only its hash, so it cannot be shown again.'),
    element('p', { class: 'raw mono', id: 'secret' }, secret),
    copyButton('Copy the new secret', secret),
  )
}
