import type { Pages } from '../create-pages.ts'
import type { Templates } from '../templates/templates.ts'
import type { Rendered } from '../tools.ts'
import { states } from './states.ts'

/** A page in a state. */
export interface PreviewState {
  /** The names of the page and of the state, such as `sign-in-wrong-credentials`. */
  readonly name: string
  readonly page: keyof Templates
  render(pages: Pages, locale: string): Rendered
}

const kebab = (text: string): string =>
  text.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`).replaceAll(/[_ ]/gu, '-')

const statesOfPage = <Page extends keyof Templates>(page: Page): readonly PreviewState[] =>
  Object.entries(states[page]).map(([state, view]) => ({
    name: state === 'usual' ? kebab(page) : `${kebab(page)}-${kebab(state)}`,
    page,
    render: (pages, locale) => (pages[page] as (view: unknown, locale: string) => Rendered)(view, locale),
  }))

/** Every page in every state, with examples as content. For previews, pictures and tests. */
export const previewStates: readonly PreviewState[] = (Object.keys(states) as readonly (keyof Templates)[]).flatMap(
  statesOfPage,
)
