import { byId, element } from './elements.js'
import { followEvents } from './live-stream.js'
import { startRequests } from './requests.js'

/** @import { PageMaker } from './shell.js' */

/** Moves the request builder to the pages of the administration, which have a heading and a main part already. */
function adopt() {
  const builder = byId('builder')
  const main = byId('workbench')
  const columns = element('div', { id: 'workbench' })
  columns.append(...main.childNodes)
  main.replaceWith(columns)
  builder.querySelector('h1')?.remove()
  builder.querySelector('.skip')?.remove()
  byId('main').append(builder)
}

let isStarted = false

/** The page that sends requests by hand. It keeps its tokens while the user looks at other pages. @type {PageMaker} */
export async function requestsPage({ api }) {
  if (!isStarted) {
    const setup = await api.console('/console/setup.json')
    isStarted = true
    adopt()
    startRequests(await setup.json(), (onEvent) => followEvents(api, onEvent))
  }
  const builder = byId('builder')
  builder.hidden = false
  return {
    title: 'Requests and live events',
    content: [],
    leave() {
      builder.hidden = true
    },
  }
}
