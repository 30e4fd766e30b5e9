package inventory

import (
	"strings"
	"unicode"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// Model returns a product name without its vendor and with single spaces. Nothing else of a
// name is a mere variant: form factor, memory and export version make another class.
func Model(name string) string {
	fields := strings.Fields(name)
	if len(fields) > 1 && strings.EqualFold(fields[0], "NVIDIA") {
		fields = fields[1:]
	}
	return strings.Join(fields, " ")
}

// skuOf returns the class of a model: the one that the inventory has, or a new one named after
// it. conflict says that there are several to choose from.
func skuOf(model, brand string, known []rental.SKU) (sku rental.SKU, isNew bool, conflict string) {
	if model == "" {
		return rental.SKU{}, false, "the card tells no product name: expected one; name its SKU by hand"
	}
	var found []rental.SKU
	for _, s := range known {
		if strings.EqualFold(Model(s.Model), model) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return guess(model, brand, known), true, ""
	case 1:
		return found[0], false, ""
	}
	return found[0], false, "SKUs " + found[0].Name + " and " + found[1].Name + " both have the model " + model + ": expected one; name the SKU by hand"
}

// guess makes a class of what the name says; figures that it does not say stay unpromised.
func guess(model, brand string, known []rental.SKU) rental.SKU {
	sku := rental.SKU{Name: slug(model), Model: model, DataCenterCard: isDataCenter(brand)}
	for _, s := range known {
		if s.Name == sku.Name { // the name is taken by another model
			sku.Name += "-reported"
		}
	}
	for _, word := range strings.FieldsFunc(model, func(r rune) bool { return r == ' ' || r == '-' }) {
		upper := strings.ToUpper(word)
		switch {
		case strings.HasPrefix(upper, "SXM"), upper == "NVL":
			sku.FormFactor = upper
		case upper == "PCIE":
			sku.FormFactor = "PCIe"
		}
	}
	return sku
}

// isDataCenter tells by the driver's brand: data-centre cards are Tesla or, since Hopper, plain NVIDIA.
func isDataCenter(brand string) bool {
	return strings.EqualFold(brand, "tesla") || strings.EqualFold(brand, "nvidia")
}

// slug is a name that is easy to type: lower case, words joined by dashes.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "-")
}
