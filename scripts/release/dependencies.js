import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const read = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** The place of a package that another one at `from` gets, as Node.js resolves it. */
function placeOf(name, from, places) {
  for (let at = from; ; at = at.replace(/(?:^|\/)(?:node_modules\/(?:@[^/]+\/)?)?[^/]+$/u, '')) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`
    const installed = places[place]
    if (installed !== undefined) return installed.link ? installed.resolved : place
    if (at === '') return undefined
  }
}

/** Packages whose manifest names none, and that contain its text. */
const unstated = { 'node_modules/@hattip/core': 'MIT' }

/** A package without a licence needs a decision of a person. */
function licenceOf(root, place, locked) {
  const licence = locked.license ?? read(join(root, place, 'package.json')).license ?? unstated[place]
  if (typeof licence !== 'string') throw new Error(`${place} names no licence`)
  return licence
}

/**
 * Returns what the published packages need at run time, from package-lock.json: their dependencies with their optional peers, and
 * what these need. Sorted by name and version.
 *
 * @param root the folder of package-lock.json
 * @param folders the folders of the published packages
 * @throws Error if a dependency is not in the lock file, or names no licence
 */
export function dependenciesOf(root, folders) {
  const { packages: places } = read(join(root, 'package-lock.json'))
  const components = new Map()
  const visit = (place) => {
    const locked = places[place]
    const isOurs = folders.includes(place)
    const name = isOurs ? read(join(root, place, 'package.json')).name : place.replace(/^.*node_modules\//u, '')
    const id = `${name}@${locked.version}`
    if (components.has(id)) return id
    const component = {
      name,
      version: locked.version,
      integrity: locked.integrity,
      licence: licenceOf(root, place, locked),
      isOurs,
      dependsOn: [],
    }
    components.set(id, component)
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = locked
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).sort()) {
      const isOptionalPeer = peerDependenciesMeta[needed]?.optional === true
      if (isOptionalPeer && !isOurs) continue
      const neededPlace = placeOf(needed, place, places)
      const isOptional = isOptionalPeer || needed in optionalDependencies
      if (neededPlace !== undefined) component.dependsOn.push(visit(neededPlace))
      else if (!isOptional) throw new Error(`${id} needs ${needed}, which package-lock.json does not have`)
    }
    return id
  }
  for (const folder of folders) visit(folder)
  return [...components].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, component]) => component)
}
