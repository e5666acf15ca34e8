import { byId, element } from './elements.js'
import { hashOf, routeIn } from './route.js'

/** @import { Api } from './api.js' */
/** @import { AdministrationSetup } from './setup.js' */

/**
 * What a page of the administration can use.
 *
 * @typedef {object} PageContext
 * @property {Api} api
 * @property {AdministrationSetup} setup
 * @property {unknown} usersIn where users are: `storage`, or `service` if others change them
 * @property {readonly string[]} segments the rest of the route
 * @property {Readonly<Record<string, string>>} query
 * @property {unknown} draft what the user had typed here
 * @property {(segments: readonly string[], query?: Record<string, string | undefined>, done?: string) => void} go shows another page
 * @property {(done: string) => void} refresh shows the page again, and says what is done
 *
 * @typedef {object} PageContent
 * @property {string} title
 * @property {readonly (Node | string | false | undefined)[]} content
 * @property {() => unknown} [draft] what the user has typed and not saved; `undefined` if there is nothing
 * @property {() => void} [leave] called when the user leaves the page
 *
 * @typedef {(context: PageContext) => PageContent | Promise<PageContent>} PageMaker
 *
 * A page in the navigation.
 *
 * @typedef {object} Section
 * @property {string} segment the first of its route
 * @property {string} label
 * @property {PageMaker} page
 */

/** Where the pages, and the page for requests, show what they have received. */
const drawnPlaces = ['page', 'user', 'request', 'outcome', 'exchange', 'token-list', 'actions', 'timeline']

/** Leaves nothing of the pages in the document, which others may see after a sign-out. */
function eraseAll() {
  for (const id of drawnPlaces) byId(id).replaceChildren()
}

/** Moves the focus, so that the keyboard and a screen reader begin where the page begins. @param {string} title */
function headingOf(title) {
  return element('h1', { tabindex: '-1', id: 'page-title' }, title)
}

/** @param {readonly Section[]} sections */
function drawNavigation(sections) {
  const links = sections.map(({ segment, label }) => element('a', { href: hashOf([segment]) }, label))
  byId('navigation').replaceChildren(element('ul', {}, ...links.map((link) => element('li', {}, link))))
  /** @param {Section} current */
  return (current) => {
    for (const [index, link] of links.entries()) {
      if (sections[index] === current) link.setAttribute('aria-current', 'page')
      else link.removeAttribute('aria-current')
    }
  }
}

/** @param {string} text */
function announce(text) {
  const done = byId('done')
  done.textContent = text
  done.hidden = text === ''
}

/** @param {PageContent} page */
function draw(page) {
  document.title = `${page.title} – Grantry console`
  const heading = headingOf(page.title)
  const main = byId('page')
  main.replaceChildren(heading, ...page.content.filter((child) => child !== false && child !== undefined))
  main.removeAttribute('aria-busy')
  heading.focus()
}

/** @param {string} title */
function drawLoading(title) {
  const main = byId('page')
  main.setAttribute('aria-busy', 'true')
  main.replaceChildren(headingOf(title), element('p', { class: 'quiet', role: 'status' }, 'Loading…'))
}

/**
 * Shows the page that the fragment of the address names, now and whenever it changes.
 *
 * @param {readonly Section[]} sections the first is shown without a fragment
 * @param {Pick<PageContext, 'api' | 'setup' | 'usersIn'>} services
 * @param {Record<string, unknown>} kept what the user had typed before the sign-in, by the fragments of the pages
 */
export function startShell(sections, services, kept) {
  const mark = drawNavigation(sections)
  /** What the user has typed and not saved, by the fragment of its page. @type {Map<string, unknown>} */
  const drafts = new Map(Object.entries(kept))
  /** @type {PageContent | undefined} */
  let content
  let shownHash = ''
  let visit = 0

  /** Leaves the page. @param {boolean} keepsDraft whether the user may want to go on there */
  function abandon(keepsDraft) {
    const draft = keepsDraft ? content?.draft?.() : undefined
    if (draft === undefined) drafts.delete(shownHash)
    else drafts.set(shownHash, draft)
    content?.leave?.()
    content = undefined
  }

  async function show() {
    visit += 1
    const thisVisit = visit
    shownHash = location.hash
    const { segments, query } = routeIn(shownHash)
    const section = sections.find(({ segment }) => segment === segments[0]) ?? sections[0]
    if (section === undefined) return
    mark(section)
    drawLoading(section.label)
    const draft = drafts.get(shownHash)
    const page = await section.page({ ...services, segments: segments.slice(1), query, draft, go, refresh })
    // The user may have opened another page in the meantime.
    if (thisVisit !== visit) return page.leave?.()
    content = page
    draw(page)
  }

  /** @type {PageContext['go']} */
  function go(segments, query, done = '') {
    abandon(false)
    announce(done)
    const hash = hashOf(segments, query)
    // Without an event: the news is about the page that follows.
    if (hash !== location.hash) history.pushState(null, '', hash)
    void show()
  }

  /** @type {PageContext['refresh']} */
  function refresh(done) {
    abandon(false)
    announce(done)
    void show()
  }

  addEventListener('hashchange', () => {
    // Links within a page, such as the one that skips the navigation, are not pages.
    if (location.hash !== '' && !location.hash.startsWith('#/')) return
    abandon(true)
    byId('again').hidden = true
    announce('')
    void show()
  })
  addEventListener('beforeunload', (event) => {
    if (drafts.size > 0 || content?.draft?.() !== undefined) event.preventDefault()
  })
  void show()
  // Before the page is left on purpose: the browser must not ask.
  return {
    /** Returns what is typed and not saved; `undefined` if there is nothing. */
    drafts() {
      const draft = content?.draft?.()
      const all = { ...Object.fromEntries(drafts), ...(draft !== undefined && { [shownHash]: draft }) }
      return Object.keys(all).length === 0 ? undefined : all
    },
    abandon() {
      visit += 1
      abandon(false)
      drafts.clear()
      eraseAll()
    },
  }
}
