import { addEntry } from './add-entry.js'
import { entryList } from './entry-list.js'
import { entryPage } from './entry-page.js'

/** @import { Column, Filter } from './list-page.js' */
/** @import { PageContent, PageContext, PageMaker } from './shell.js' */
/** @import { OpenEntry } from './entry-page.js' */

/**
 * A kind of entries that administrators change.
 *
 * @typedef {object} EntryKind
 * @property {string} segment in the address, and in the paths of the API
 * @property {string} title of the list
 * @property {string} noun such as `client`
 * @property {string} plural
 * @property {string} lead what the list is about
 * @property {string} idMember
 * @property {'enabled' | 'active'} switchMember
 * @property {string} offText what happens when one is disabled
 * @property {readonly [verb: string, done: string]} [removal] what a removal is called. Default: Remove, removed
 * @property {string} removedText what happens when one is removed
 * @property {readonly Column<Record<string, unknown>>[]} columns
 * @property {readonly Filter[]} filters
 * @property {readonly string[]} [newMembers] members that only a new one has
 * @property {(query: Readonly<Record<string, string>>) => string} [listPath] Default: the entries by their ids
 * @property {(entry: Record<string, unknown>) => string} nameOf
 * @property {(entry: OpenEntry) => readonly Node[]} [more] what else the page of one has
 * @property {(id: string, context: PageContext) => Promise<PageContent>} [missing] the page of one that is not in the storage
 */

/**
 * Returns the pages of a kind: the list, a new one, and each one.
 *
 * @param {EntryKind} kind
 * @returns {PageMaker}
 */
export const entryPages = (kind) => (context) => {
  const [id] = context.segments
  if (id !== undefined) return entryPage(kind, id, context)
  return context.query.new === 'yes' ? addEntry(kind, context) : entryList(kind, context)
}
