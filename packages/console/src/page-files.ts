import { readdir, readFile } from 'node:fs/promises'

/** The files of the pages as JSON, defined by the build (`scripts/console-pages.js`). */
declare const GRANTRY_CONSOLE_PAGES: string | undefined

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

/** A file that the browser loads. */
export interface PageFile {
  readonly text: string
  readonly mediaType: string
}

/** The folder of a page with scripts. */
export type PageName = 'console' | 'demo'

const folders: Readonly<Record<PageName, string>> = { console: './page/', demo: './demo/page/' }

type Texts = Readonly<Record<string, string>>

async function readSources(page: PageName): Promise<Texts> {
  const directory = new URL(folders[page], import.meta.url)
  const names = await readdir(directory).catch((cause: unknown) => {
    throw new TypeError(`${page}: this build does not include the page; set ${page} to false`, { cause })
  })
  const entries = names.map(async (name) => [name, await readFile(new URL(name, directory), 'utf8')] as const)
  return Object.fromEntries(await Promise.all(entries))
}

function inBundle(json: string, page: PageName): Texts {
  const pages: Readonly<Record<PageName, Texts>> = JSON.parse(json)
  return pages[page]
}

/** Returns the files of a page by name: from the build, or from the source tree. */
export async function pageFiles(page: PageName): Promise<ReadonlyMap<string, PageFile>> {
  const texts =
    typeof GRANTRY_CONSOLE_PAGES === 'undefined' ? await readSources(page) : inBundle(GRANTRY_CONSOLE_PAGES, page)
  return new Map(
    Object.entries(texts).flatMap(([name, text]): [string, PageFile][] => {
      const mediaType = mediaTypes[name.slice(name.lastIndexOf('.') + 1)]
      return mediaType === undefined ? [] : [[name, { text, mediaType }]]
    }),
  )
}
