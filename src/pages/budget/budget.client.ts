import { schemeButton } from "../shell/elements.client.ts";

document.getElementById("scheme")!.append(schemeButton());
