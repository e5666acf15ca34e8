import { apiPath } from './api.js'
import { encodeBase64url } from './base64url.js'
import { element } from './elements.js'
import { entryForm } from './entry-form.js'
import { keepNewSecret } from './new-secret.js'
import { hashOf } from './route.js'

/** @import { EntryKind } from './entry-pages.js' */
/** @import { PageContent, PageContext } from './shell.js' */

/** @param {Record<string, unknown>} change */
const withoutNulls = (change) => Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null))

/**
 * Returns the page of a new entry.
 *
 * @param {EntryKind} kind
 * @param {PageContext} context
 * @returns {PageContent}
 */
export function addEntry(kind, { api, draft, go }) {
  const { segment, noun, idMember, idLabel, idHint, groups, newMembers = [] } = kind
  const id = { name: idMember, label: idLabel, kind: /** @type {const} */ ('text'), hint: idHint }
  const [first, ...others] = groups
  if (first === undefined) throw new TypeError('A kind of entries has members')
  const all = [{ ...first, members: [id, ...newMembers, ...first.members] }, ...others]
  // A repeated request, after a lost response, adds the entry once.
  const once = encodeBase64url(crypto.getRandomValues(new Uint8Array(16)))
  const form = entryForm({
    groups: all,
    entry: {},
    label: `Add the ${noun}`,
    draft,
    send: (change) => api.send('POST', apiPath([segment]), { body: withoutNulls(change), once }),
    onSaved({ body }) {
      const added = [segment, String(body[idMember])]
      keepNewSecret(hashOf(added), body.secret)
      go(added, {}, `The ${noun} is added.`)
    },
  })
  return {
    title: `Add a ${noun}`,
    content: [element('p', {}, element('a', { href: hashOf([segment]) }, `All ${kind.plural}`)), form.form],
    draft: form.draft,
  }
}
