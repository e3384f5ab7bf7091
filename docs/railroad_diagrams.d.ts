declare module "@prantlf/railroad-diagrams" {
  class Item {
    constructor(...items: unknown[]);
    format(padding?: number): this;
    toString(): string;
  }

  export {
    Item as Choice,
    Item as Diagram,
    Item as NonTerminal,
    Item as OneOrMore,
    Item as Optional,
    Item as Sequence,
    Item as Skip,
    Item as Terminal,
    Item as ZeroOrMore,
  };
}
