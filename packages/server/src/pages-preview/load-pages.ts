import { watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { isObject } from '@grantry/core'
import type { Pages } from '@grantry/pages'
import { createPageSets, type PageSets } from '@grantry/pages/preview'
import { importFresh } from '../configuration/import-module.ts'
import { loadConfiguration } from '../configuration/load.ts'
import { isNamedPlugin } from '../configuration/named-plugins.ts'

/** The source of the appearance of the pages. */
export interface PagesSource {
  /** A configuration, whose plugin `sign-in` has the option `pages`. */
  readonly config?: string | undefined
  /** A module whose default export is the options of `createPages()`, or the result of that function. */
  readonly templates?: string | undefined
}

async function pagesOfConfiguration(file: string): Promise<PageSets> {
  const { configuration } = await loadConfiguration(resolve(file), process.env)
  const entry = [configuration.plugins ?? []]
    .flat()
    .find((plugin): plugin is { readonly name: string } => isNamedPlugin(plugin) && plugin.name === 'sign-in')
  if (entry === undefined) throw new TypeError(`${file}: no plugin is named sign-in, so there are no pages to show`)
  return createPageSets('pages' in entry ? (entry.pages as Parameters<typeof createPageSets>[0]) : {})
}

/**
 * Loads the pages from the files, as they are now.
 *
 * @throws TypeError with a one-line message for a mistake in a file
 */
export async function loadPages({ config, templates }: PagesSource): Promise<PageSets> {
  if (templates !== undefined) {
    const exported = await importFresh(resolve(templates))
    if (!isObject(exported)) {
      throw new TypeError(`${templates}: the default export must be the options of createPages(), or its pages`)
    }
    return 'localeOf' in exported ? { ...createPageSets(), pages: exported as Pages } : createPageSets(exported)
  }
  return config === undefined ? createPageSets({ name: 'Example' }) : pagesOfConfiguration(config)
}

/** Calls a function after changes in the directories of the files. Returns a function that ends this. */
export function watchSource({ config, templates }: PagesSource, changed: () => void): () => void {
  const files = [config, templates].filter((file) => file !== undefined)
  const watchers = [...new Set(files.map((file) => dirname(resolve(file))))].map((directory) =>
    watch(directory, (_event, name) => {
      // Ignores the temporary files that editors write beside a file.
      if (name === null || !/^\.|~$/u.test(basename(name))) changed()
    }),
  )
  return () => {
    for (const watcher of watchers) watcher.close()
  }
}
