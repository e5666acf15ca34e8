// Walks the public types of the packages with the compiler API, which TypeScript 7 does not have.
import { createRequire } from 'node:module'

const { SymbolFlags, TypeFlags } = createRequire(new URL('../test/package.json', import.meta.url))('typescript-oldest')

const fileOf = (declaration) => declaration.getSourceFile().fileName
const isForeign = (declaration) => fileOf(declaration).includes('/node_modules/')

/**
 * Returns the optional properties, in all types that the exports of these files reach, that do not accept `undefined`
 * with `exactOptionalPropertyTypes`, and how many types there are. Excludes types of other packages.
 *
 * @param program compiled with `exactOptionalPropertyTypes`
 * @param entries files of the program
 */
export function exactOptionalProperties(program, entries) {
  const checker = program.getTypeChecker()
  const undefinedType = checker.getUndefinedType()
  const visited = new Set()
  const properties = new Set()

  const isNamedElsewhere = ({ symbol }) =>
    symbol?.declarations?.every(isForeign) && (symbol.flags & (SymbolFlags.Class | SymbolFlags.Interface)) !== 0

  function visitProperty(property, path) {
    const type = checker.getTypeOfSymbol(property)
    const isOptional = (property.flags & SymbolFlags.Optional) !== 0
    const accepts =
      (type.flags & (TypeFlags.Any | TypeFlags.Unknown)) !== 0 || (type.types ?? [type]).includes(undefinedType)
    if (isOptional && !accepts && !property.declarations?.every(isForeign)) properties.add(`${path}.${property.name}`)
    visit(type, `${path}.${property.name}`)
  }

  function visit(type, path) {
    if (visited.has(type)) return
    visited.add(type)
    for (const member of type.types ?? []) visit(member, path)
    for (const argument of type.aliasTypeArguments ?? []) visit(argument, path)
    if ((type.flags & TypeFlags.TypeParameter) !== 0 && type.getConstraint() !== undefined)
      visit(type.getConstraint(), path)
    if ((type.flags & TypeFlags.Object) === 0) return
    for (const argument of checker.getTypeArguments(type)) visit(argument, path)
    if (checker.isArrayType(type) || checker.isTupleType(type) || isNamedElsewhere(type)) return
    for (const signature of [...type.getCallSignatures(), ...type.getConstructSignatures()]) {
      for (const parameter of signature.getParameters()) visit(checker.getTypeOfSymbol(parameter), path)
      visit(signature.getReturnType(), path)
    }
    for (const property of type.getProperties()) visitProperty(property, path)
    for (const { type: value } of checker.getIndexInfosOfType(type)) visit(value, path)
  }

  for (const entry of entries) {
    for (const name of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)))) {
      const symbol = (name.flags & SymbolFlags.Alias) === 0 ? name : checker.getAliasedSymbol(name)
      if ((symbol.flags & SymbolFlags.Type) !== 0) visit(checker.getDeclaredTypeOfSymbol(symbol), symbol.name)
      const value = (symbol.flags & SymbolFlags.Value) === 0 ? undefined : checker.getTypeOfSymbol(symbol)
      // Not constants such as `nodeRuntime`: nothing is assigned to them.
      if (value !== undefined && value.getCallSignatures().length > 0) visit(value, symbol.name)
    }
  }
  return { found: [...properties].sort(), types: visited.size }
}
