/** What a file of results says of its formulas. */
import { basename } from "node:path";
import { Schema } from "apache-arrow";
import type { ProgramOrigin } from "../../dag/fingerprints.ts";
import { packageVersion } from "../../files/package_version.ts";
import { type ArgumentKind, hasAll } from "../../text/argument_kinds.ts";

/** What `compile` gives, as far as files need it. */
export interface NamedProgram {
  origin(): ProgramOrigin;
}

export const NAMED_PROGRAM: ArgumentKind = {
  what: "a program",
  fits: (given) => hasAll(given, ["factors", "params", "origin"]),
  remedy: "a program is what compile(text) gives",
};

/**
 * The schema of a file: with the release, the formulas as they are written and their dialect, of several files each under its name, and at
 * each factor its fingerprint. Without an origin it is as it was.
 */
export function namedSchema(schema: Schema, origin: ProgramOrigin | undefined): Schema {
  if (origin === undefined) return schema;
  const { fields, metadata } = schema;
  const { files, fingerprints } = origin;
  const named = new Map([...metadata, ["factorloom", packageVersion()]]);
  for (const { file, dialect, text } of files) {
    const ofFile = files.length === 1 ? "" : ` of ${basename(file)}`;
    named.set(`dialect${ofFile}`, dialect).set(`formulas${ofFile}`, text);
  }
  const namedFields = fields.map((field) => {
    const fingerprint = fingerprints.factors.get(field.name);
    if (fingerprint === undefined) return field;
    return field.clone({ metadata: new Map([...field.metadata, ["fingerprint", fingerprint]]) });
  });
  return new Schema(namedFields, named);
}
