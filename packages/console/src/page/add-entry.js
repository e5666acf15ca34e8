import { apiPath } from './api.js'
import { encodeBase64url } from './base64url.js'
import { element } from './elements.js'
import { entryForm, warningsIn } from './entry-form.js'
import { groupsOf } from './entry-members.js'
import { keepNewSecret } from './new-secret.js'
import { problemPage } from './problem-page.js'
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
 * @returns {Promise<PageContent>}
 */
export async function addEntry(kind, { api, draft, go, refresh }) {
  const { segment, noun, idMember } = kind
  const described = await api.describe()
  if (described.problem !== '') return problemPage(`Add a ${noun}`, described, () => refresh(''))
  // A repeated request, after a lost response, adds the entry once.
  const once = encodeBase64url(crypto.getRandomValues(new Uint8Array(16)))
  const form = entryForm({
    groups: groupsOf(kind, described.body),
    entry: {},
    label: `Add the ${noun}`,
    draft,
    send: (change) => api.send('POST', apiPath([segment]), { body: withoutNulls(change), once }),
    onSaved({ body }) {
      const added = [segment, String(body[idMember])]
      keepNewSecret(hashOf(added), body.secret)
      go(added, {}, `The ${noun} is added.${warningsIn(body)}`)
    },
  })
  return {
    title: `Add a ${noun}`,
    content: [element('p', {}, element('a', { href: hashOf([segment]) }, `All ${kind.plural}`)), form.form],
    draft: form.draft,
  }
}
